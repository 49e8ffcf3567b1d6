//! The words of `vxbench` and their meanings.

/// The meanings of the words, as shown in the command's help.
pub const DETAILS: &str = "\
Workloads (-w):
  read         sequential read of the test files
  write        sequential write of the test files
  rand_read    random read of the test files
  rand_write   random write of the test files
  rand_mixed   mix of random reads and writes
  mmap_read    use mmap to read the test files, every page
  mmap_write   use mmap to overwrite the test files, every page
Suboptions (-i), separated by commas:
  nrep=N         repeat the I/O loop N times
  nthreads=N     streams on each file; those of a sequential workload alternate block by block
  iosize=SIZE    size of each I/O [8k]
  iocount=N      I/Os of each stream [as many as the file holds]; 128k is 131072
  fsync          fsync after the last write of each stream; its time counts
  remove         remove each file after the test
  reserveonly    reserve space (-r) and do no I/O
  maxfilesize=N  random I/O ends before N KB (or a size with suffix)
  randseed=N     seed of random offsets, and of what is written [1]
  truncup[=SIZE] give the file an initial size for random I/O
  rdpct=N        percentage of reads in rand_mixed [50]
Open types (-o): append, sync (O_SYNC), trunc
Cache options (-c):
  atomic   with direct: every write is whole or not at all, also after a power failure (RWF_ATOMIC); iosize is a power of two
  direct   bypass the file cache (O_DIRECT); the rest of a file behind its last whole block goes through it
  dsync    data synchronous (O_DSYNC)
  noreuse  leave nothing in the file cache (RWF_DONTCACHE; --best-effort: POSIX_FADV_NOREUSE where there is none)
  random   POSIX_FADV_RANDOM, MADV_RANDOM
  seq      POSIX_FADV_SEQUENTIAL, MADV_SEQUENTIAL
Flags (-f) for reservations (-r) and extent sizes (-e):
  align      extents must begin at multiples of the extent size
  chgsize    the file gets the size of the reservation (also: chgsiz)
  contig     the reservation must be one extent
  noextend   no write may go past the reservation
  noreserve  space for the run only: unused space is given back at the last close
  trim       unused space of the reservation is given back at the last close

Sizes are powers of 1024. Several files: one user per file, nthreads streams each. A file that exists is never
overwritten without --destroy-data. To write 1 GB in blocks of 8 KB:
  ioscape vxbench -w write -i iosize=8k,iocount=128k FILE";
