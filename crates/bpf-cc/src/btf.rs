//! Descriptions of C types as the kernel has them (Documentation/bpf/btf.rst).

use std::collections::BTreeMap;

/// `BTF_MAGIC` of linux/btf.h, as are the names below.
const BTF_MAGIC: u16 = 0xeb9f;
/// Bytes of `struct btf_type`, and of `struct btf_member`.
const TYPE_BYTES: usize = 12;
const MEMBER_BYTES: usize = 12;

const BTF_KIND_INT: u32 = 1;
const BTF_KIND_PTR: u32 = 2;
const BTF_KIND_ARRAY: u32 = 3;
const BTF_KIND_STRUCT: u32 = 4;
const BTF_KIND_UNION: u32 = 5;
const BTF_KIND_ENUM: u32 = 6;
const BTF_KIND_FWD: u32 = 7;
const BTF_KIND_FUNC: u32 = 12;
const BTF_KIND_FUNC_PROTO: u32 = 13;
const BTF_KIND_VAR: u32 = 14;
const BTF_KIND_DATASEC: u32 = 15;
const BTF_KIND_FLOAT: u32 = 16;
const BTF_KIND_DECL_TAG: u32 = 17;
const BTF_KIND_TYPE_TAG: u32 = 18;
const BTF_KIND_ENUM64: u32 = 19;

/// `BTF_INFO_KIND`, `BTF_INFO_VLEN` and `BTF_INFO_KFLAG`: the fields of a type's `info`.
const fn info_kind(info: u32) -> u32 {
    info >> 24 & 0x1f
}

const fn info_vlen(info: u32) -> usize {
    (info & 0xffff) as usize
}

const fn info_kflag(info: u32) -> bool {
    info >> 31 == 1
}

/// `BTF_MEMBER_BIT_OFFSET`: of a member of a structure whose type has the flag of [`info_kflag`].
const fn member_bit_offset(offset: u32) -> u32 {
    offset & 0xff_ffff
}

/// Bytes of what follows a type of this kind with `count` elements; `None` if the kind is unknown.
fn following_bytes(kind: u32, count: usize) -> Option<usize> {
    Some(match kind {
        BTF_KIND_INT | BTF_KIND_VAR | BTF_KIND_DECL_TAG => 4,
        BTF_KIND_ARRAY => 12,
        BTF_KIND_STRUCT | BTF_KIND_UNION => MEMBER_BYTES * count,
        BTF_KIND_DATASEC | BTF_KIND_ENUM64 => 12 * count,
        BTF_KIND_ENUM | BTF_KIND_FUNC_PROTO => 8 * count,
        BTF_KIND_PTR | BTF_KIND_FWD..=BTF_KIND_FUNC | BTF_KIND_FLOAT | BTF_KIND_TYPE_TAG => 0,
        _ => return None,
    })
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where it begins, in bytes.
    pub offset: usize,
}

/// Structures and integers by their names.
#[derive(Debug)]
pub struct Types<'a> {
    strings: &'a [u8],
    /// Name to number, bytes, and the members' records.
    structures: BTreeMap<&'a str, (u32, usize, &'a [u8], bool)>,
    integers: BTreeMap<&'a str, u32>,
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The text that begins at `at` and ends before a zero.
pub(crate) fn text(strings: &[u8], at: u32) -> Option<&str> {
    let rest = strings.get(at as usize..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

impl<'a> Types<'a> {
    /// Reads `bytes`, as `/sys/kernel/btf/vmlinux` or the section `.BTF` has them; `None`: they are something else.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        if u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?) != BTF_MAGIC {
            return None;
        }
        let header = |field: usize| word(bytes, field).map(|value| value as usize);
        let start = header(4)?;
        let (types_at, types_bytes) = (start + header(8)?, header(12)?);
        let (strings_at, strings_bytes) = (start + header(16)?, header(20)?);
        let records = bytes.get(types_at..types_at.checked_add(types_bytes)?)?;
        let strings = bytes.get(strings_at..strings_at.checked_add(strings_bytes)?)?;
        let mut found = Types { strings, structures: BTreeMap::new(), integers: BTreeMap::new() };
        let (mut at, mut number) = (0, 1);
        while at < records.len() {
            let (name, info, size) = (word(records, at)?, word(records, at + 4)?, word(records, at + 8)?);
            let kind = info_kind(info);
            let end = at + TYPE_BYTES + following_bytes(kind, info_vlen(info))?;
            let rest = records.get(at + TYPE_BYTES..end)?;
            if kind == BTF_KIND_STRUCT && name != 0 {
                let entry = (number, size as usize, rest, info_kflag(info));
                found.structures.entry(text(strings, name)?).or_insert(entry);
            }
            if kind == BTF_KIND_INT {
                found.integers.entry(text(strings, name)?).or_insert(number);
            }
            at = end;
            number += 1;
        }
        Some(found)
    }

    /// The number of an integer type.
    pub fn integer(&self, name: &str) -> Option<u32> {
        self.integers.get(name).copied()
    }

    /// The number of a structure, and its size in bytes.
    pub fn structure(&self, name: &str) -> Option<(u32, usize)> {
        self.structures.get(name).map(|(number, bytes, ..)| (*number, *bytes))
    }

    /// The members of a structure, in order; none if there is no such structure.
    pub fn members(&self, name: &str) -> Vec<Member> {
        let Some((_, _, records, has_bit_fields)) = self.structures.get(name) else { return Vec::new() };
        let member = |record: &[u8]| {
            let bits = word(record, 8)?;
            let bits = if *has_bit_fields { member_bit_offset(bits) } else { bits };
            let name = text(self.strings, word(record, 0)?)?.to_owned();
            Some(Member { name, offset: bits as usize / 8 })
        };
        records.chunks_exact(MEMBER_BYTES).filter_map(member).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_cut_off_or_foreign_is_read() {
        let whole = crate::Object::read(crate::algorithms::object_of("htcp")).unwrap().types;
        let types = Types::read(whole).unwrap();
        assert!(types.structure("connection").is_some() && types.integer("int").is_some());
        assert!((0..whole.len()).all(|end| Types::read(&whole[..end]).is_none()));
        assert!(Types::read(b"something else that is long enough").is_none());
    }

    #[test]
    fn members_are_where_the_compiler_put_them() {
        let types = crate::Object::read(crate::algorithms::object_of("scalable")).unwrap().types;
        let members = Types::read(types).unwrap().members("window");
        let found: Vec<_> = members.iter().map(|each| (each.name.as_str(), each.offset)).collect();
        assert_eq!(found[..3], [("size", 0), ("threshold", 8), ("size_before", 16)]);
    }
}
