//! From a ROCDL module to a code object with its resource report and manifest
