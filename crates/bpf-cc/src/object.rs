//! Compiled programs, as `clang -target bpf` and `bpftool gen object` leave them: ELF with BTF.

use crate::btf::{text, word};

/// Bytes of `Elf64_Sym` and of `Elf64_Rel`; the names below are those of elf(5).
const SYMBOL_BYTES: usize = 24;
const RELOCATION_BYTES: usize = 16;
const SHT_SYMTAB: u32 = 2;
const SHT_REL: u32 = 9;
/// The magic number, `ELFCLASS64` and `ELFDATA2LSB`.
const IDENTIFICATION: &[u8; 6] = b"\x7fELF\x02\x01";
/// Offsets in `Elf64_Ehdr`.
const E_SHOFF: usize = 40;
const E_SHENTSIZE: usize = 58;
const E_SHNUM: usize = 60;
const E_SHSTRNDX: usize = 62;
/// Offsets in `Elf64_Shdr`.
const SH_NAME: usize = 0;
const SH_TYPE: usize = 4;
const SH_OFFSET: usize = 24;
const SH_SIZE: usize = 32;
const SH_INFO: usize = 44;
const PREFIX: &str = "struct_ops/";

/// What an instruction refers to, to be filled in with what the kernel has made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The map that keeps what an algorithm knows of each connection.
    Connections,
    /// The byte at this place of the constants.
    Constants(u32),
}

/// One program: one member of the kernel's structure.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// The member's name.
    pub member: &'a str,
    /// Its instructions, of 8 bytes each.
    pub instructions: &'a [u8],
    /// Instructions (of 16 bytes) that refer to something, by their place in bytes.
    pub references: Vec<(usize, Reference)>,
    /// Records of the section `.BTF.ext` about its functions, with places in instructions.
    pub functions: Vec<u8>,
    /// Records about fields of the kernel's structures, which the kernel finds in its own.
    pub fields: &'a [u8],
}

/// An algorithm's programs.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// In the order of the file.
    pub programs: Vec<Program<'a>>,
    /// Constants, the parameters among them.
    pub constants: &'a [u8],
    /// Where among the constants the parameters are, and how many bytes they take.
    pub parameters: (usize, usize),
    /// The section `.BTF`.
    pub types: &'a [u8],
}

/// Bytes of a record about a function, and about a field.
pub(crate) const FUNCTION_BYTES: usize = 8;
pub(crate) const FIELD_BYTES: usize = 16;

struct Section<'a> {
    name: &'a str,
    kind: u32,
    bytes: &'a [u8],
    /// Of relocations: the section that they are for.
    info: usize,
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let value = u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?);
    usize::try_from(value).ok()
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?)))
}

fn sections(file: &[u8]) -> Option<Vec<Section<'_>>> {
    if file.get(..6)? != IDENTIFICATION {
        return None;
    }
    let (table, size) = (long(file, E_SHOFF)?, short(file, E_SHENTSIZE)?);
    let (count, names) = (short(file, E_SHNUM)?, short(file, E_SHSTRNDX)?);
    let record = |index: usize| {
        let start = table.checked_add(index * size)?;
        file.get(start..start.checked_add(size)?)
    };
    let bytes = |record: &[u8]| {
        let start = long(record, SH_OFFSET)?;
        file.get(start..start.checked_add(long(record, SH_SIZE)?)?)
    };
    let strings = bytes(record(names)?)?;
    (0..count)
        .map(|index| {
            let record = record(index)?;
            let (name, info) = (text(strings, word(record, SH_NAME)?)?, word(record, SH_INFO)? as usize);
            Some(Section { name, kind: word(record, SH_TYPE)?, bytes: bytes(record)?, info })
        })
        .collect()
}

impl<'a> Object<'a> {
    /// Reads an object file; `None` if it contains no BPF algorithms.
    pub fn read(file: &'a [u8]) -> Option<Self> {
        let sections = sections(file)?;
        let named = |name: &str| sections.iter().position(|each| each.name == name);
        let constants_at = named(".rodata")?;
        let (types, more) = (sections[named(".BTF")?].bytes, sections[named(".BTF.ext")?].bytes);
        let strings = types.get(word(types, 4)? as usize + word(types, 16)? as usize..)?;
        let symbols = sections.iter().find(|each| each.kind == SHT_SYMTAB)?.bytes;
        let names = sections[named(".strtab")?].bytes;
        let mut programs = Vec::new();
        for (index, section) in sections.iter().enumerate() {
            let Some(member) = section.name.strip_prefix(PREFIX) else { continue };
            let mut references = Vec::new();
            for each in sections.iter().filter(|each| each.kind == SHT_REL && each.info == index) {
                for record in each.bytes.chunks_exact(RELOCATION_BYTES) {
                    let symbol = word(record, 12)? as usize * SYMBOL_BYTES;
                    let (home, value) = (short(symbols, symbol + 6)?, word(symbols, symbol + 8)?);
                    let at = long(record, 0)?;
                    let reference = if home == constants_at {
                        Reference::Constants(value.checked_add(word(section.bytes, at.checked_add(4)?)?)?)
                    } else if text(names, word(symbols, symbol)?)? == "connections" {
                        Reference::Connections
                    } else {
                        return None;
                    };
                    references.push((at, reference));
                }
            }
            let mut functions = about(more, strings, 8, FUNCTION_BYTES, section.name)?.to_vec();
            for record in functions.chunks_exact_mut(FUNCTION_BYTES) {
                let place = word(record, 0)? / 8;
                record.get_mut(..4)?.copy_from_slice(&place.to_le_bytes());
            }
            let fields = about(more, strings, 24, FIELD_BYTES, section.name).unwrap_or_default();
            programs.push(Program { member, instructions: section.bytes, references, functions, fields });
        }
        let own = symbols
            .chunks_exact(SYMBOL_BYTES)
            .find(|symbol| word(symbol, 0).and_then(|name| text(names, name)) == Some("parameters"))?;
        let parameters = (long(own, 8)?, long(own, 16)?);
        let constants = sections[constants_at].bytes;
        constants.get(parameters.0..parameters.0.checked_add(parameters.1)?)?;
        Some(Object { programs, constants, parameters, types })
    }

    /// The constants with these parameters; `None` if they are not as many as the programs expect.
    pub fn constants_with(&self, parameters: &[u64]) -> Option<Vec<u8>> {
        let given: Vec<u8> = parameters.iter().flat_map(|each| each.to_le_bytes()).collect();
        let mut constants = self.constants.to_vec();
        let (start, bytes) = self.parameters;
        let place = constants.get_mut(start..start + bytes)?;
        (given.len() == bytes).then(|| place.copy_from_slice(&given))?;
        Some(constants)
    }
}

/// The records of one kind about one section. The header of `.BTF.ext` says at `field` where all of the kind are.
fn about<'a>(more: &'a [u8], strings: &[u8], field: usize, bytes: usize, section: &str) -> Option<&'a [u8]> {
    let start = word(more, 4)? as usize + word(more, field)? as usize;
    let mut rest = more.get(start..start.checked_add(word(more, field + 4)? as usize)?)?;
    if word(rest, 0)? as usize != bytes {
        return None;
    }
    rest = rest.get(4..)?;
    while !rest.is_empty() {
        let (name, length) = (text(strings, word(rest, 0)?)?, word(rest, 4)? as usize * bytes);
        if name == section {
            return rest.get(8..8 + length);
        }
        rest = rest.get(8 + length..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NAMES, SlowStartLimit, bpf_algorithm};
    use longhaul_congestion::AlgorithmSettings;

    #[test]
    fn every_algorithm_has_what_a_kernel_asks_of_a_congestion_control() {
        for name in NAMES {
            let algorithm =
                bpf_algorithm(&AlgorithmSettings::named(name).unwrap(), SlowStartLimit::Acknowledged)
                    .unwrap();
            let object = Object::read(algorithm.object).unwrap();
            for needed in ["init", "ssthresh", "cong_avoid", "undo_cwnd", "cwnd_event"] {
                assert!(object.programs.iter().any(|each| each.member == needed), "{name}: {needed}");
            }
            for reads in ["ssthresh", "cong_avoid"] {
                let program = object.programs.iter().find(|each| each.member == reads).unwrap();
                let reads = |(_, each): &(usize, Reference)| matches!(each, Reference::Constants(_));
                assert!(program.references.iter().any(reads), "{name}: {}", program.member);
            }
            let constants = object.constants_with(&algorithm.parameters).expect(name);
            assert_eq!(constants.len(), object.constants.len());
            assert!(object.constants_with(&algorithm.parameters[1..]).is_none());
            for program in &object.programs {
                assert_eq!(program.functions.len(), FUNCTION_BYTES, "{name}: {}", program.member);
                assert!(!program.references.is_empty() && program.fields.len() % FIELD_BYTES == 0);
            }
        }
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let whole = crate::algorithms::object_of("bic");
        assert!((0..whole.len()).step_by(7).all(|end| Object::read(&whole[..end]).is_none()));
    }
}
