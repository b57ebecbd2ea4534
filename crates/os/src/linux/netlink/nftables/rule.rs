//! What a rule does: the kernel lists it as expressions that load values into registers,
//! compare them, and store them into the packet [LinuxUapi nf_tables.h].

use std::collections::BTreeMap;

use units::IpVersion;

use super::{attribute, attributes, be32, number, text};

/// The parts of a rule that matter to the MSS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) handle: Option<u64>,
    /// The MSS that it writes, if it is a fixed one.
    pub(super) mss: Option<u16>,
    /// The chains that it calls.
    pub(super) calls: Vec<String>,
    pub(super) version: Option<IpVersion>,
    pub(super) interface: Option<(InterfaceOf, String)>,
    /// Whether it compares anything else than the protocol, the flags of TCP and the MSS.
    pub(super) is_conditional: bool,
}

/// The interface of a packet that a rule compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InterfaceOf {
    Arrival,
    Departure,
}

/// The value of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// Bytes in the rule itself.
    Constant(Vec<u8>),
    /// The protocol, flags of TCP, or the MSS: every rule that writes an MSS compares them.
    OfTcp,
    Version,
    Interface(InterfaceOf),
    Other,
}

// The attributes of a rule and of its expressions. Most of those that load or change a value
// have its register in the first one, or the source there and the destination in the second.
const NFTA_RULE_HANDLE: u16 = 3;
const NFTA_RULE_EXPRESSIONS: u16 = 4;
const NFTA_EXPR_NAME: u16 = 1;
const NFTA_EXPR_DATA: u16 = 2;
const NFTA_DATA_VALUE: u16 = 1;
const NFTA_DATA_VERDICT: u16 = 2;
const NFTA_VERDICT_CODE: u16 = 1;
const NFTA_VERDICT_CHAIN: u16 = 2;
const NFTA_IMMEDIATE_DREG: u16 = 1;
const NFTA_IMMEDIATE_DATA: u16 = 2;
const NFTA_META_DREG: u16 = 1;
const NFTA_META_KEY: u16 = 2;
const NFTA_CMP_SREG: u16 = 1;
const NFTA_CMP_OP: u16 = 2;
const NFTA_CMP_DATA: u16 = 3;
const NFTA_PAYLOAD_DREG: u16 = 1;
const NFTA_PAYLOAD_BASE: u16 = 2;
const NFTA_PAYLOAD_OFFSET: u16 = 3;
const NFTA_PAYLOAD_LEN: u16 = 4;
const NFTA_CHANGE_SREG: u16 = 1;
const NFTA_CHANGE_DREG: u16 = 2;
const NFTA_EXTHDR_DREG: u16 = 1;
const NFTA_EXTHDR_TYPE: u16 = 2;
const NFTA_EXTHDR_OFFSET: u16 = 3;
const NFTA_EXTHDR_LEN: u16 = 4;
const NFTA_EXTHDR_OP: u16 = 6;
const NFTA_EXTHDR_SREG: u16 = 7;
const NFTA_RT_DREG: u16 = 1;
const NFTA_TARGET_NAME: u16 = 1;
const NFTA_TARGET_INFO: u16 = 3;
const NFTA_MATCH_NAME: u16 = 1;
const NFT_EXTHDR_OP_TCPOPT: u32 = 1;

/// The option of TCP with the MSS, the place of its value, and the length [RFC9293 s3.2].
const MAXSEG: (u8, u32, u32) = (2, 2, 2);

/// The place of the flags in the header of TCP, and their length [RFC9293 s3.1].
const FLAGS: (u32, u32) = (13, 1);

/// The MSS of the target `TCPMSS` that stands for that of the route [LinuxUapi xt_TCPMSS.h].
const CLAMP_TO_ROUTE: u16 = 0xffff;

impl Rule {
    /// A rule in a table of a family.
    pub(super) fn read(family: u8, bytes: &[u8]) -> Self {
        let handle = attribute(bytes, NFTA_RULE_HANDLE);
        let handle = handle.and_then(|bytes| Some(u64::from_be_bytes(bytes.try_into().ok()?)));
        let mut rule = Self {
            handle,
            version: version(family),
            ..Self::default()
        };
        let mut registers = Registers::default();
        let expressions = attribute(bytes, NFTA_RULE_EXPRESSIONS).unwrap_or_default();
        for (_, expression) in attributes(expressions) {
            let name = attribute(expression, NFTA_EXPR_NAME).and_then(text);
            let data = attribute(expression, NFTA_EXPR_DATA).unwrap_or_default();
            rule.apply(&name.unwrap_or_default(), data, &mut registers);
        }
        rule
    }

    fn apply(&mut self, name: &str, data: &[u8], registers: &mut Registers) {
        match name {
            "immediate" => self.immediate(data, registers),
            "meta" => {
                if let Some(key) = be32_of(data, NFTA_META_KEY) {
                    registers.set(data, NFTA_META_DREG, meta(key));
                }
            }
            "payload" => {
                let place = [NFTA_PAYLOAD_BASE, NFTA_PAYLOAD_OFFSET, NFTA_PAYLOAD_LEN];
                let place = place.map(|kind| be32_of(data, kind));
                let transport = u32::from(number(libc::NFT_PAYLOAD_TRANSPORT_HEADER));
                let is_flags = place == [Some(transport), Some(FLAGS.0), Some(FLAGS.1)];
                let value = if is_flags { Value::OfTcp } else { Value::Other };
                registers.set(data, NFTA_PAYLOAD_DREG, value);
            }
            "bitwise" | "byteorder" => {
                let value = match registers.get(data, NFTA_CHANGE_SREG) {
                    Value::Constant(_) => Value::Other,
                    value => value,
                };
                registers.set(data, NFTA_CHANGE_DREG, value);
            }
            "rt" => registers.set(data, NFTA_RT_DREG, Value::Other),
            "exthdr" => self.option(data, registers),
            "cmp" => self.compare(data, registers),
            "target" => self.target(data),
            "match" => {
                let name = attribute(data, NFTA_MATCH_NAME).and_then(text);
                self.is_conditional |= name.as_deref() != Some("tcp");
            }
            "counter" | "log" | "last" => {}
            _ => self.is_conditional = true,
        }
    }

    fn immediate(&mut self, data: &[u8], registers: &mut Registers) {
        let written = attribute(data, NFTA_IMMEDIATE_DATA).unwrap_or_default();
        if let Some(constant) = attribute(written, NFTA_DATA_VALUE) {
            let value = Value::Constant(constant.to_vec());
            registers.set(data, NFTA_IMMEDIATE_DREG, value);
        } else if let Some(verdict) = attribute(written, NFTA_DATA_VERDICT) {
            let code = be32_of(verdict, NFTA_VERDICT_CODE).map(u32::cast_signed);
            if matches!(code, Some(libc::NFT_JUMP | libc::NFT_GOTO)) {
                let chain = attribute(verdict, NFTA_VERDICT_CHAIN).and_then(text);
                self.calls.extend(chain);
            }
        }
    }

    /// An expression that reads an option of TCP, or writes it.
    fn option(&mut self, data: &[u8], registers: &mut Registers) {
        let kind = attribute(data, NFTA_EXTHDR_TYPE).and_then(|bytes| bytes.first().copied());
        let [op, offset, length] = [NFTA_EXTHDR_OP, NFTA_EXTHDR_OFFSET, NFTA_EXTHDR_LEN]
            .map(|kind| be32_of(data, kind).unwrap_or_default());
        let place = (kind.unwrap_or_default(), offset, length);
        let is_mss = op == NFT_EXTHDR_OP_TCPOPT && place == MAXSEG;
        if attribute(data, NFTA_EXTHDR_SREG).is_none() {
            let value = if is_mss { Value::OfTcp } else { Value::Other };
            registers.set(data, NFTA_EXTHDR_DREG, value);
        } else if is_mss && let Value::Constant(bytes) = registers.get(data, NFTA_EXTHDR_SREG) {
            self.mss = bytes.try_into().ok().map(u16::from_be_bytes);
        }
    }

    fn compare(&mut self, data: &[u8], registers: &Registers) {
        let is_equal = be32_of(data, NFTA_CMP_OP) == Some(u32::from(number(libc::NFT_CMP_EQ)));
        let with = attribute(data, NFTA_CMP_DATA)
            .and_then(|data| attribute(data, NFTA_DATA_VALUE))
            .unwrap_or_default();
        match registers.get(data, NFTA_CMP_SREG) {
            Value::OfTcp => {}
            Value::Version if is_equal && let [family] = with => self.version = version(*family),
            // A part of a name has no end.
            Value::Interface(of)
                if is_equal
                    && with.contains(&0)
                    && let Some(name) = text(with) =>
            {
                self.interface = Some((of, name));
            }
            _ => self.is_conditional = true,
        }
    }

    /// A target of iptables, as `iptables-nft` writes it.
    fn target(&mut self, data: &[u8]) {
        let name = attribute(data, NFTA_TARGET_NAME).and_then(text);
        let info = attribute(data, NFTA_TARGET_INFO).unwrap_or_default();
        if name.as_deref() == Some("TCPMSS") {
            let mss = info.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes));
            self.mss = mss.filter(|mss| *mss != CLAMP_TO_ROUTE);
        }
    }
}

/// The values of registers by their numbers.
#[derive(Default)]
struct Registers(BTreeMap<u32, Value>);

impl Registers {
    /// Sets the register whose number is in an attribute.
    fn set(&mut self, data: &[u8], attribute: u16, value: Value) {
        if let Some(register) = be32_of(data, attribute) {
            self.0.insert(register, value);
        }
    }

    /// The value of the register whose number is in an attribute.
    fn get(&self, data: &[u8], attribute: u16) -> Value {
        let register = be32_of(data, attribute);
        let value = register.and_then(|register| self.0.get(&register));
        value.cloned().unwrap_or(Value::Other)
    }
}

fn meta(key: u32) -> Value {
    match key.cast_signed() {
        libc::NFT_META_L4PROTO | libc::NFT_META_PROTOCOL => Value::OfTcp,
        libc::NFT_META_NFPROTO => Value::Version,
        libc::NFT_META_IIFNAME => Value::Interface(InterfaceOf::Arrival),
        libc::NFT_META_OIFNAME => Value::Interface(InterfaceOf::Departure),
        _ => Value::Other,
    }
}

/// The version of IP of a family; `None`: both.
fn version(family: u8) -> Option<IpVersion> {
    let families = [
        (libc::NFPROTO_IPV4, IpVersion::V4),
        (libc::NFPROTO_IPV6, IpVersion::V6),
    ];
    let mut families = families.into_iter();
    let (_, version) = families.find(|(constant, _)| number(*constant) == family)?;
    Some(version)
}

fn be32_of(bytes: &[u8], kind: u16) -> Option<u32> {
    be32(attribute(bytes, kind)?)
}
