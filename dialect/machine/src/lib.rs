//! Machine records of AMD GPUs: registers, LDS, lane groups, issue cycles
