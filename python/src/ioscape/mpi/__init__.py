"""Many clients of shared storage: `mpiexec -n N python -m ioscape.mpi run|evaluate|validate|vxbench|campaign`.

MPI starts one rank for each client and carries messages; the program `ioscape` measures on every rank, and on rank 0 it decides what is
measured next and what the answers mean.
"""
