//! Executes AMDGPU code objects without a GPU: results, checks and counters
