use longhaul_units::InvalidValue;
use serde::de::DeserializeOwned;

/// A value from its JSON; nothing may follow it.
///
/// # Errors
/// The first field that is unknown, missing or invalid, with its path.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, InvalidValue> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        invalid(if path == "." { String::new() } else { path }, &error.into_inner())
    })?;
    json.end().map_err(|error| invalid(String::new(), &error))?;
    Ok(value)
}

/// The error without its line and column, which say nothing in a text that a program wrote.
fn invalid(path: String, error: &serde_json::Error) -> InvalidValue {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&position).unwrap_or(&text).replace('`', "\"");
    let several = text.split_once(", expected one of ");
    let one = || text.split_once(", expected \"").map(|(rule, known)| (rule, known.trim_end_matches('"')));
    match several.or_else(one) {
        Some((rule, known)) => InvalidValue::new(path, rule).with_remedy(format!("there are: {known}")),
        None => InvalidValue::new(path, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, LossModel};

    fn error(text: &str) -> String {
        from_json::<Direction>(text.as_bytes()).unwrap_err().to_string()
    }

    const REST: &str = r#""up": true, "queue": {"limit_packets": null, "limit_bytes": null}, "reorder": false,
        "reordering": null, "duplicate": 0, "rate": {"model": "unlimited"}"#;

    #[test]
    fn an_invalid_value_is_refused_with_its_path() {
        let delay = r#""delay": {"model": "constant", "delay_ns": 5}"#;
        let burst = r#""loss": {"model": "gilbert-elliott", "mean": 0.9, "burst": 1}"#;
        let text = error(&format!("{{{REST}, {delay}, {burst}}}"));
        assert_eq!(text, "loss: burst: must be at least 1 and at least mean / (1 - mean)");
        let share = r#""loss": {"model": "independent", "probability": 1.5}"#;
        let text = error(&format!("{{{REST}, {delay}, {share}}}"));
        assert_eq!(text, "loss: a probability must lie between 0 and 1, not 1.5");
        let none = r#""loss": {"model": "none"}"#;
        let negative = r#""delay": {"model": "constant", "delay_ns": -5}"#;
        let text = error(&format!("{{{REST}, {none}, {negative}}}"));
        assert_eq!(text, "delay: invalid value: integer \"-5\", expected u64");
    }

    #[test]
    fn an_unknown_field_and_a_rest_are_refused() {
        let text = from_json::<LossModel>(br#"{"model": "none", "colour": 1}"#).unwrap_err().to_string();
        assert!(text.contains("unknown field \"colour\""), "{text}");
        let text = from_json::<LossModel>(br#"{"model": "fog"}"#).unwrap_err().to_string();
        let (rule, known) = text.split_once("; there are: \"none\", ").unwrap();
        assert_eq!(rule, "model: unknown variant \"fog\"");
        // Each name is in quotes, the last one too.
        assert!(known.ends_with('"') && known.matches('"').count() % 2 == 0, "{known}");
        let text = from_json::<LossModel>(br#"{"model": "none"} {}"#).unwrap_err().to_string();
        assert_eq!(text, "trailing characters");
    }
}
