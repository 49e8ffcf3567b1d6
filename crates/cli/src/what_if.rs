//! Predictions for an evaluated system with something exchanged, and the command that helps where nothing is known.

use crate::args::WhatIfArg;
use crate::asked::Asked;
use crate::failure::Failure;
use crate::remedy;
use crate::systems::System;
use ioscape_scaling::model::{ModelKind, WhatIf, WhatIfError, predict_what_if};
use ioscape_schema::{Parameter, Prediction};

/// Predicts all workloads on `system` with `exchanges`.
///
/// # Errors
/// An exchange that no evaluation knows enough of.
pub fn predict(
    system: &System,
    asked: &[Asked],
    exchanges: &[WhatIfArg],
) -> Result<Vec<Prediction>, Failure> {
    let (mut what_if, mut lender, mut named) = (WhatIf::default(), None, Vec::new());
    for exchange in exchanges {
        match exchange {
            WhatIfArg::Memory(bytes) => {
                let own = system.memory_bytes().ok_or_else(|| {
                    Failure::Misuse(format!(
                        "{} does not say how much memory it had: evaluate it again",
                        system.name
                    ))
                })?;
                what_if.memory_bytes = Some([own, *bytes]);
                named.push(format!("memory {}", remedy::size(*bytes)));
            }
            WhatIfArg::Storage(path) => {
                let other = System::read(path, ModelKind::Default)?;
                what_if.storage = Some(other.model.clone());
                named.push(format!("the storage of {}", other.name));
                lender = Some(other);
            }
            WhatIfArg::WritePolicy(done) => {
                what_if.write_done = Some(*done);
                named.push(format!("writes done {done:?}").to_lowercase());
            }
        }
    }
    let name = format!("{} with {}", system.name, named.join(", "));
    let one = |one: &Asked| {
        let workload = one.on(system.model.base());
        let refused = |error| refused(system, lender.as_ref(), &error);
        let predicted = predict_what_if(&system.model, &what_if, &workload).map_err(refused)?;
        Ok(Prediction { name: one.name.clone(), system: name.clone(), ..predicted })
    };
    asked.iter().map(one).collect()
}

fn refused(system: &System, lender: Option<&System>, error: &WhatIfError) -> Failure {
    let about = match error {
        WhatIfError::Beyond { target, .. } | WhatIfError::NoStorage(target) => {
            lender.filter(|one| one.evaluation.target == *target).unwrap_or(system)
        }
        WhatIfError::OtherKind(other) => {
            lender.filter(|one| one.evaluation.target == other.target).unwrap_or(system)
        }
        _ => system,
    };
    let target = &about.evaluation.target;
    let again = remedy::command(target, about.memory_limit_bytes(), about.model.base());
    let reach = match error {
        WhatIfError::Beyond { parameter: Parameter::UniqueBytes, value, .. } => {
            format!(" --max-unique-bytes {}", remedy::size(whole_mebibytes(*value)))
        }
        WhatIfError::NoCache(_) | WhatIfError::NoWrites(_) | WhatIfError::NoStorage(_) => {
            let memory = about.memory_bytes().unwrap_or(1 << 30);
            format!(" --max-unique-bytes {}", remedy::size(memory.saturating_mul(4)))
        }
        _ => String::new(),
    };
    let help = again.map_or_else(String::new, |again| format!("; `{again}{reach}` would tell"));
    Failure::Misuse(format!("{error}{help}"))
}

/// The next multiple of a mebibyte.
fn whole_mebibytes(bytes: f64) -> u64 {
    ((bytes / f64::from(1 << 20)).ceil().max(1.0) as u64) << 20
}
