//! Results of the operating-system micro-benchmarks and the MIPS-relative speed of Ousterhout
//! (1990).

mod benchmark;
mod mean;
pub mod paper;
mod results;
mod row;

pub use benchmark::{Contamination, Locality, OsBenchmark, OsRule, OsTasks, OsUnit};
pub use mean::shared_means;
pub use results::{DHRYSTONES_PER_MIPS, MabProof, OsResults, OsSystem};
pub use row::shortened_apart;
