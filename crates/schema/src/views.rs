//! Views of a document's outcome by kind: one method each, `None` if the outcome is of another
//! kind.

use crate::outcome::kinds;
use crate::{
    CampaignResult, Characterization, Doctor, Document, Evaluation, Measurement, OsResults,
    Outcome, Prediction, Simulation, SystemComparison, TraceCharacterization, TraceComparison,
    TraceFile, TraceReplay, TraceSummary, ValidationRun, Vxbench,
};

macro_rules! views {
    ($($key:ident: $variant:ident($type:ty)),* $(,)?) => {
        impl Document {
            $(
                #[doc = concat!("The outcome, where it is the one called `", stringify!($key), "`.")]
                pub fn $key(&self) -> Option<&$type> {
                    let Some(Outcome::$variant(outcome)) = &self.outcome else { return None };
                    let outcome: &$type = outcome;
                    Some(outcome)
                }
            )*
        }
    };
}
kinds!(views);
