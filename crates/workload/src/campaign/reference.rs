//! Published numbers to compare a campaign with: CSV with the source in its first line, after `# `.

use super::CampaignError;
use ioscape_schema::CampaignReference;

/// Parses reference numbers: a line `# SOURCE`, a line of headings, lines of numbers.
///
/// # Errors
/// A line's number of fields differs from that of the headings, or a field is no finite number.
pub fn parse_reference(text: &str) -> Result<CampaignReference, CampaignError> {
    let mut reference = CampaignReference::default();
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(source) = content.strip_prefix('#') {
            reference.source = [reference.source.trim(), source.trim()].join(" ").trim().to_owned();
            continue;
        }
        if content.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = content.split(',').map(str::trim).collect();
        if reference.columns.is_empty() {
            reference.columns = fields.into_iter().map(str::to_owned).collect();
            continue;
        }
        let fail = |message: String| CampaignError::Text { line, message };
        if fields.len() != reference.columns.len() {
            let (has, wants) = (fields.len(), reference.columns.len());
            return Err(fail(format!("has {has} fields, but there are {wants} headings")));
        }
        let number = |field: &&str| field.parse::<f64>().ok().filter(|value| value.is_finite());
        let row: Option<Vec<f64>> = fields.iter().map(number).collect();
        reference.rows.push(row.ok_or_else(|| fail("holds a field that is no number".into()))?);
    }
    Ok(reference)
}
