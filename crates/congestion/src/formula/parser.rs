//! A recursive-descent parser of formulas. From the loosest: comparison, sum, product, sign, power, value.

use super::{FUNCTIONS, Operation, STACK, Step, VARIABLES};
use longhaul_units::InvalidValue;

/// The longest formula, in bytes.
const LONGEST: usize = 1000;
/// How deep parentheses, functions, signs and powers may be nested.
const DEEPEST: usize = 20;

/// The steps that evaluate `text`, which need a stack of at most [`STACK`] values.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, InvalidValue> {
    if text.len() > LONGEST {
        return Err(wrong(format!("the formula is longer than {LONGEST} bytes")));
    }
    let mut parser = Parser { tokens: tokens(text)?, next: 0, steps: Vec::new(), height: 0, depth: 0 };
    parser.comparison()?;
    match parser.peek() {
        None => Ok(parser.steps),
        Some(_) => Err(parser.unexpected("")),
    }
}

fn wrong(rule: String) -> InvalidValue {
    InvalidValue::new("", rule)
        .with_remedy("write a formula with + - * / ^, comparisons, parentheses, numbers and variables")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number(f64),
    Name,
    Sign,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    kind: Kind,
    /// Its first character, counted from 1.
    character: usize,
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, InvalidValue> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_ascii_digit() || first == '.' {
            length_of_number(rest)
        } else if first.is_ascii_alphabetic() || first == '_' {
            rest.find(|each: char| !each.is_ascii_alphanumeric() && each != '_').unwrap_or(rest.len())
        } else if ["<=", ">=", "==", "!="].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else {
            first.len_utf8()
        };
        let (word, character) = (&rest[..length], text[..at].chars().count() + 1);
        at += length;
        let kind = match first {
            _ if first.is_whitespace() => continue,
            '0'..='9' | '.' => Kind::Number(
                word.parse()
                    .map_err(|_| wrong(format!("\"{word}\" at character {character} is not a number")))?,
            ),
            _ if first.is_ascii_alphabetic() || first == '_' => Kind::Name,
            _ => Kind::Sign,
        };
        found.push(Token { text: word, kind, character });
    }
    Ok(found)
}

/// The length of what begins as a number: digits, points, and an exponent.
fn length_of_number(text: &str) -> usize {
    let digits = |from: usize| {
        text[from..].find(|each: char| !each.is_ascii_digit() && each != '.').map_or(text.len(), |n| from + n)
    };
    let mantissa = digits(0);
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else { return mantissa };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    digits(mantissa + 1 + sign)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    steps: Vec<Step>,
    /// Values on the stack after the steps so far.
    height: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn comparison(&mut self) -> Result<(), InvalidValue> {
        self.sum()?;
        let operation = match self.sign() {
            "<" => Operation::Less,
            "<=" => Operation::LessOrEqual,
            ">" => Operation::Greater,
            ">=" => Operation::GreaterOrEqual,
            "==" => Operation::Equal,
            "!=" => Operation::Unequal,
            _ => return Ok(()),
        };
        self.next += 1;
        self.sum()?;
        self.push(Step::Apply(operation))
    }

    fn sum(&mut self) -> Result<(), InvalidValue> {
        self.product()?;
        loop {
            let operation = match self.sign() {
                "+" => Operation::Add,
                "-" => Operation::Subtract,
                _ => return Ok(()),
            };
            self.next += 1;
            self.product()?;
            self.push(Step::Apply(operation))?;
        }
    }

    fn product(&mut self) -> Result<(), InvalidValue> {
        self.signed()?;
        loop {
            let operation = match self.sign() {
                "*" => Operation::Multiply,
                "/" => Operation::Divide,
                _ => return Ok(()),
            };
            self.next += 1;
            self.signed()?;
            self.push(Step::Apply(operation))?;
        }
    }

    /// Every recursion passes here.
    fn signed(&mut self) -> Result<(), InvalidValue> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(wrong(format!("the formula is nested more than {DEEPEST} deep")));
        }
        if self.sign() == "-" {
            self.next += 1;
            self.signed()?;
            self.push(Step::Apply(Operation::Negate))?;
        } else {
            self.value()?;
            if self.sign() == "^" {
                self.next += 1;
                self.signed()?;
                self.push(Step::Apply(Operation::Power))?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn value(&mut self) -> Result<(), InvalidValue> {
        let Some(token) = self.peek() else { return Err(self.unexpected("a value")) };
        match token.kind {
            Kind::Number(number) => {
                self.next += 1;
                self.push(Step::Number(number))
            }
            Kind::Name => {
                self.next += 1;
                self.named(token.text)
            }
            Kind::Sign if token.text == "(" => {
                self.next += 1;
                self.comparison()?;
                self.expect(")")
            }
            Kind::Sign => Err(self.unexpected("a value")),
        }
    }

    /// A variable, or a function with its arguments.
    fn named(&mut self, name: &str) -> Result<(), InvalidValue> {
        if let Some(&(_, operation)) = FUNCTIONS.iter().find(|function| function.0 == name) {
            let arguments = operation.arguments();
            self.expect("(")?;
            let mut found = 0;
            loop {
                self.comparison()?;
                found += 1;
                if self.sign() != "," {
                    break;
                }
                self.next += 1;
            }
            self.expect(")")?;
            if found != arguments {
                let s = if arguments == 1 { "" } else { "s" };
                let written = ["a", "a, b", "condition, a, b"][arguments - 1];
                let rule = format!("{name} has {arguments} argument{s}, not {found}");
                return Err(InvalidValue::new("", rule).with_remedy(format!("write {name}({written})")));
            }
            return self.push(Step::Apply(operation));
        }
        if let Some(position) = VARIABLES.iter().position(|variable| *variable == name) {
            return self.push(Step::Variable(position));
        }
        let (kind, known) = if self.sign() == "(" {
            ("function", FUNCTIONS.map(|function| function.0).join(", "))
        } else {
            ("variable", VARIABLES.join(", "))
        };
        Err(InvalidValue::new("", format!("unknown {kind} \"{name}\""))
            .with_remedy(format!("known are {known}")))
    }

    fn push(&mut self, step: Step) -> Result<(), InvalidValue> {
        if let Step::Apply(operation) = step {
            self.height -= operation.arguments();
        }
        self.height += 1;
        if self.height > STACK {
            return Err(wrong(format!("the formula needs more than {STACK} values at once")));
        }
        self.steps.push(step);
        Ok(())
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    /// The next token if it is a sign, or nothing.
    fn sign(&self) -> &'a str {
        self.peek().filter(|token| token.kind == Kind::Sign).map_or("", |token| token.text)
    }

    fn expect(&mut self, sign: &str) -> Result<(), InvalidValue> {
        if self.sign() != sign {
            return Err(self.unexpected(&format!("\"{sign}\"")));
        }
        self.next += 1;
        Ok(())
    }

    /// The next token is none that may be here; `instead` is what may, or empty.
    fn unexpected(&self, instead: &str) -> InvalidValue {
        let expected =
            if instead.is_empty() { String::new() } else { format!(" where {instead} is expected") };
        wrong(match self.peek() {
            None => format!("the formula ends{expected}"),
            Some(token) => {
                format!("\"{}\" at character {} is unexpected{expected}", token.text, token.character)
            }
        })
    }
}
