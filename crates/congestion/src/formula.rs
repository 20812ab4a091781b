//! Formulas of a rule: parsed once into steps of a stack machine, evaluated in `f64`.

mod parser;

use longhaul_units::InvalidValue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What a formula may depend on, in the order of [`Variables`].
pub(crate) const VARIABLES: [&str; 6] = ["cwnd", "in_flight", "rtt", "min_rtt", "since_loss", "cwnd_at_loss"];

/// The functions.
const FUNCTIONS: [(&str, Operation); 5] = [
    ("min", Operation::Min),
    ("max", Operation::Max),
    ("sqrt", Operation::Sqrt),
    ("cbrt", Operation::Cbrt),
    ("if", Operation::If),
];

/// The values that a formula waits with while it is evaluated.
const STACK: usize = 32;

/// The state of a connection as formulas see it: windows in segments, times in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variables {
    /// The congestion window.
    pub(crate) cwnd: f64,
    /// Segments in flight.
    pub(crate) in_flight: f64,
    /// The smoothed RTT; 0 before the first sample.
    pub(crate) rtt: f64,
    /// The smallest RTT so far; 0 before the first sample.
    pub(crate) min_rtt: f64,
    /// Time since the last loss event.
    pub(crate) since_loss: f64,
    /// The congestion window at the last loss event, before it was reduced.
    pub(crate) cwnd_at_loss: f64,
}

/// An arithmetic expression of variables of a connection, such as `max(0.01, 1 / cwnd)`.
///
/// Text that is not a formula is kept, and [`check`](Self::check) says what is wrong with it; it evaluates to NaN.
#[derive(Clone)]
pub struct Formula {
    text: String,
    program: Result<Arc<[Step]>, InvalidValue>,
}

/// A step of the stack machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Number(f64),
    /// The position of a variable in [`VARIABLES`].
    Variable(usize),
    Apply(Operation),
}

/// What takes values from the stack and leaves its result. Comparisons are 1 where they hold, and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    Min,
    Max,
    Sqrt,
    Cbrt,
    If,
}

impl Formula {
    /// Parses `text`.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let program = parser::parse(&text).map(Arc::from);
        Formula { text, program }
    }

    /// Whether the text is a formula.
    ///
    /// # Errors
    /// What is wrong, and the remedy; the path is `field`.
    pub fn check(&self, field: &str) -> Result<(), InvalidValue> {
        self.program.as_ref().map(drop).map_err(|error| error.clone().within(field))
    }

    /// Its value, which may be infinite or NaN.
    pub(crate) fn evaluate(&self, variables: &Variables) -> f64 {
        let Ok(program) = &self.program else { return f64::NAN };
        let &Variables { cwnd, in_flight, rtt, min_rtt, since_loss, cwnd_at_loss } = variables;
        let values = [cwnd, in_flight, rtt, min_rtt, since_loss, cwnd_at_loss];
        let mut stack = [0.0; STACK];
        let mut height = 0;
        for step in program.iter() {
            let value = match *step {
                Step::Number(number) => number,
                Step::Variable(position) => values[position],
                Step::Apply(operation) => {
                    height -= operation.arguments();
                    operation.apply(&stack[height..])
                }
            };
            stack[height] = value;
            height += 1;
        }
        stack[0]
    }
}

impl Operation {
    fn arguments(self) -> usize {
        match self {
            Operation::Negate | Operation::Sqrt | Operation::Cbrt => 1,
            Operation::If => 3,
            _ => 2,
        }
    }

    /// Its result; the arguments are the first of `values`.
    fn apply(self, values: &[f64]) -> f64 {
        let (a, b, c) = (values[0], values.get(1).copied(), values.get(2).copied());
        let (b, c) = (b.unwrap_or_default(), c.unwrap_or_default());
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Operation::Negate => -a,
            Operation::Add => a + b,
            Operation::Subtract => a - b,
            Operation::Multiply => a * b,
            Operation::Divide => a / b,
            Operation::Power => libm::pow(a, b),
            Operation::Less => truth(a < b),
            Operation::LessOrEqual => truth(a <= b),
            Operation::Greater => truth(a > b),
            Operation::GreaterOrEqual => truth(a >= b),
            Operation::Equal => truth(a == b),
            Operation::Unequal => truth(a != b),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Sqrt => libm::sqrt(a),
            Operation::Cbrt => libm::cbrt(a),
            Operation::If => {
                if a == 0.0 {
                    c
                } else {
                    b
                }
            }
        }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Formula({:?})", self.text)
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FormulaVisitor)
    }
}

struct FormulaVisitor;

impl Visitor<'_> for FormulaVisitor {
    type Value = Formula;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a formula, such as 1 / cwnd, or a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Formula, E> {
        Ok(Formula::new(text))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Formula, E> {
        Ok(Formula::new(number.to_string()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Formula, E> {
        Ok(Formula::new(number.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Formula, E> {
        Ok(Formula::new(number.to_string()))
    }
}

impl JsonSchema for Formula {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AT: Variables =
        Variables { cwnd: 10.0, in_flight: 9.0, rtt: 0.2, min_rtt: 0.1, since_loss: 3.0, cwnd_at_loss: 16.0 };

    fn value(text: &str) -> f64 {
        let formula = Formula::new(text);
        assert_eq!(formula.check("per_ack"), Ok(()));
        formula.evaluate(&AT)
    }

    fn refusal(text: &str) -> String {
        Formula::new(text).check("per_ack").unwrap_err().to_string()
    }

    #[test]
    fn operators_have_the_precedence_of_arithmetic() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("16 / 4 / 2", 2.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ -1", 0.5),
            ("2 * -3", -6.0),
            ("1 + 1 < 3", 1.0),
            ("1 >= 3 - 1", 0.0),
            ("1e3 + 2.5e-1 + .5", 1000.75),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn variables_and_functions_have_their_values() {
        for (text, expected) in [
            ("1/cwnd", 0.1),
            ("in_flight / 2", 4.5),
            ("rtt - min_rtt", 0.1),
            ("since_loss + cwnd_at_loss", 19.0),
            ("min(cwnd, 3)", 3.0),
            ("max(cwnd, 3)", 10.0),
            ("sqrt(cwnd_at_loss)", 4.0),
            ("cbrt(27)", 3.0),
            ("if(rtt > 1.5 * min_rtt, -1, 1)", -1.0),
            ("if(cwnd == 10, if(cwnd != 10, 1, 2), 3)", 2.0),
            ("if(cwnd <= 9, 1, 2)", 2.0),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn an_error_names_what_is_wrong_and_what_to_write() {
        let variables = "known are cwnd, in_flight, rtt, min_rtt, since_loss, cwnd_at_loss";
        for (text, expected) in [
            ("1 / cwin", format!("unknown variable \"cwin\"; {variables}")),
            ("log(cwnd)", "unknown function \"log\"; known are min, max, sqrt, cbrt, if".to_owned()),
            ("min(cwnd)", "min has 2 arguments, not 1; write min(a, b)".to_owned()),
            ("if(cwnd, 1)", "if has 3 arguments, not 2; write if(condition, a, b)".to_owned()),
            ("sqrt(1, 2)", "sqrt has 1 argument, not 2; write sqrt(a)".to_owned()),
        ] {
            assert_eq!(refusal(text), format!("per_ack: {expected}"));
        }
        for (text, expected) in [
            ("", "the formula ends where a value is expected"),
            ("1 / ", "the formula ends where a value is expected"),
            ("(1 + 2", "the formula ends where \")\" is expected"),
            ("1 + 2)", "\")\" at character 6 is unexpected"),
            ("1 2", "\"2\" at character 3 is unexpected"),
            ("2 cwnd", "\"cwnd\" at character 3 is unexpected"),
            ("* 2", "\"*\" at character 1 is unexpected where a value is expected"),
            ("1 < 2 < 3", "\"<\" at character 7 is unexpected"),
            ("1 = 2", "\"=\" at character 3 is unexpected"),
            ("cwnd / 2 µ", "\"µ\" at character 10 is unexpected"),
            ("1.2.3", "\"1.2.3\" at character 1 is not a number"),
            ("min 3", "\"3\" at character 5 is unexpected where \"(\" is expected"),
        ] {
            let refused = refusal(text);
            assert!(refused.starts_with(&format!("per_ack: {expected}; write a formula")), "{refused}");
        }
    }

    #[test]
    fn a_formula_of_any_depth_is_evaluated_or_refused() {
        for (open, close) in [("(", ")"), ("-", ""), ("2^", ""), ("1+(", ")"), ("min(1,", ")")] {
            for depth in [1, 8, 1 << 9, 1 << 16] {
                let formula = Formula::new(format!("{}1{}", open.repeat(depth), close.repeat(depth)));
                assert_eq!(formula.check("per_ack").is_ok(), depth <= 8, "{open} {depth}");
                assert_eq!(formula.evaluate(&AT).is_nan(), depth > 8);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_evaluated_or_refused(
            text in "((min|max|if|sqrt|cbrt)?\\(|cwnd|rtt|[-0-9.,+*/^()<>=!µ e]){0,40}"
        ) {
            let formula = Formula::new(text);
            let value = formula.evaluate(&AT);
            prop_assert!(formula.check("per_ack").is_ok() || value.is_nan());
        }
    }

    #[test]
    fn a_number_is_a_formula_too() {
        let read = |text: &str| serde_json::from_str::<Formula>(text).unwrap();
        assert_eq!(read("0.01"), Formula::new("0.01"));
        assert_eq!(read("1"), Formula::new("1"));
        assert_eq!(read("-1").evaluate(&AT), -1.0);
        assert_eq!(read("1e-9").evaluate(&AT), 1e-9);
        assert_eq!(read("\"1 / cwnd\""), Formula::new("1 / cwnd"));
        assert!(serde_json::from_str::<Formula>("true").is_err());
    }
}
