use crate::bbr::{Bbr3Settings, BbrSettings};
use crate::bic::BicSettings;
use crate::cdg::CdgSettings;
use crate::compound::CompoundSettings;
use crate::cubic::CubicSettings;
use crate::dctcp::DctcpSettings;
use crate::fast::FastSettings;
use crate::highspeed::HighSpeedSettings;
use crate::htcp::HtcpSettings;
use crate::illinois::IllinoisSettings;
use crate::lia::LiaSettings;
use crate::lp::LpSettings;
use crate::multcp::MultcpSettings;
use crate::nv::NvSettings;
use crate::olia::OliaSettings;
use crate::reno::RenoSettings;
use crate::rule::RuleSettings;
use crate::scalable::ScalableSettings;
use crate::stochastic::StochasticSettings;
use crate::tahoe::TahoeSettings;
use crate::vegas::VegasSettings;
use crate::veno::VenoSettings;
use crate::westwood::WestwoodSettings;
use crate::yeah::YeahSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which algorithm, with its parameters; plain data, as a plan has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "algorithm", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AlgorithmSettings {
    /// Tahoe: back to one segment after any loss (Jacobson 1988).
    Tahoe(TahoeSettings),
    /// RFC 5681.
    Reno(RenoSettings),
    /// Binary increase (Xu, Harfoush, Rhee 2004).
    Bic(BicSettings),
    /// RFC 9438.
    Cubic(CubicSettings),
    /// RFC 3649.
    #[serde(rename = "highspeed")]
    HighSpeed(HighSpeedSettings),
    /// Scalable TCP (Kelly 2003).
    Scalable(ScalableSettings),
    /// H-TCP (Leith, Shorten 2004).
    Htcp(HtcpSettings),
    /// FAST (Jin, Wei, Low 2004).
    Fast(FastSettings),
    /// Compound TCP (Tan, Song, Zhang, Sridharan 2006).
    Compound(CompoundSettings),
    /// Westwood+ (Grieco, Mascolo 2004).
    Westwood(WestwoodSettings),
    /// Vegas (Brakmo, Peterson 1995).
    Vegas(VegasSettings),
    /// Illinois (Liu, Basar, Srikant 2006).
    Illinois(IllinoisSettings),
    /// Veno (Fu, Liew 2003).
    Veno(VenoSettings),
    /// `YeAH` (Baiocchi, Castellani, Vacirca 2007).
    Yeah(YeahSettings),
    /// TCP-LP (Kuzmanovic, Knightly 2003).
    Lp(LpSettings),
    /// CDG (Hayes, Armitage 2011).
    Cdg(CdgSettings),
    /// NV, New Vegas (Brakmo, Linux).
    Nv(NvSettings),
    /// RFC 8257.
    Dctcp(DctcpSettings),
    /// MulTCP (Crowcroft, Oechslin 1998).
    Multcp(MultcpSettings),
    /// Linked increases of Multipath TCP (RFC 6356).
    Lia(LiaSettings),
    /// Opportunistic linked increases of Multipath TCP (Khalili et al. 2012).
    Olia(OliaSettings),
    /// Stochastic TCP, a reconstruction (Hacker, Smith 2008).
    Stochastic(StochasticSettings),
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr(BbrSettings),
    /// BBR, version 3 (draft-ietf-ccwg-bbr-06).
    Bbr3(Bbr3Settings),
    /// Formulas of the scenario.
    Rule(RuleSettings),
}

/// The names of all algorithms.
pub const NAMES: [&str; 25] = [
    "tahoe",
    "reno",
    "bic",
    "cubic",
    "highspeed",
    "scalable",
    "htcp",
    "fast",
    "compound",
    "westwood",
    "vegas",
    "illinois",
    "veno",
    "yeah",
    "lp",
    "cdg",
    "nv",
    "dctcp",
    "multcp",
    "lia",
    "olia",
    "stochastic",
    "bbr",
    "bbr3",
    "rule",
];

impl AlgorithmSettings {
    /// The algorithm of this name with its customary parameters; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "tahoe" => AlgorithmSettings::Tahoe(TahoeSettings::default()),
            "reno" => AlgorithmSettings::Reno(RenoSettings::default()),
            "bic" => AlgorithmSettings::Bic(BicSettings::default()),
            "cubic" => AlgorithmSettings::Cubic(CubicSettings::default()),
            "highspeed" => AlgorithmSettings::HighSpeed(HighSpeedSettings::default()),
            "scalable" => AlgorithmSettings::Scalable(ScalableSettings::default()),
            "htcp" => AlgorithmSettings::Htcp(HtcpSettings::default()),
            "fast" => AlgorithmSettings::Fast(FastSettings::default()),
            "compound" => AlgorithmSettings::Compound(CompoundSettings::default()),
            "westwood" => AlgorithmSettings::Westwood(WestwoodSettings::default()),
            "vegas" => AlgorithmSettings::Vegas(VegasSettings::default()),
            "illinois" => AlgorithmSettings::Illinois(IllinoisSettings::default()),
            "veno" => AlgorithmSettings::Veno(VenoSettings::default()),
            "yeah" => AlgorithmSettings::Yeah(YeahSettings::default()),
            "lp" => AlgorithmSettings::Lp(LpSettings::default()),
            "cdg" => AlgorithmSettings::Cdg(CdgSettings::default()),
            "nv" => AlgorithmSettings::Nv(NvSettings::default()),
            "dctcp" => AlgorithmSettings::Dctcp(DctcpSettings::default()),
            "multcp" => AlgorithmSettings::Multcp(MultcpSettings::default()),
            "lia" => AlgorithmSettings::Lia(LiaSettings::default()),
            "olia" => AlgorithmSettings::Olia(OliaSettings::default()),
            "stochastic" => AlgorithmSettings::Stochastic(StochasticSettings::default()),
            "bbr" => AlgorithmSettings::Bbr(BbrSettings::default()),
            "bbr3" => AlgorithmSettings::Bbr3(Bbr3Settings::default()),
            "rule" => AlgorithmSettings::Rule(RuleSettings::default()),
            _ => return None,
        })
    }

    /// Whether the algorithm draws: without it, a connection need not keep a stream, and
    /// [`CongestionControl::on_lost`](crate::CongestionControl::on_lost) and [`CongestionControl::on_start`](crate::CongestionControl::on_start) do nothing.
    pub fn draws(&self) -> bool {
        matches!(
            self,
            AlgorithmSettings::Stochastic(_)
                | AlgorithmSettings::Bbr(_)
                | AlgorithmSettings::Bbr3(_)
                | AlgorithmSettings::Cdg(_)
                | AlgorithmSettings::Nv(_)
        )
    }

    /// Whether segments should be sent ECN-capable for this algorithm to work (DCTCP).
    pub fn wants_marks(&self) -> bool {
        matches!(self, AlgorithmSettings::Dctcp(_))
    }

    /// Whether it is made for connections over several paths, whose windows depend on each other.
    pub fn is_coupled(&self) -> bool {
        matches!(self, AlgorithmSettings::Lia(_) | AlgorithmSettings::Olia(_))
    }

    /// The algorithm's name, without its parameters.
    pub fn name(&self) -> &'static str {
        match self {
            AlgorithmSettings::Tahoe(_) => "tahoe",
            AlgorithmSettings::Reno(_) => "reno",
            AlgorithmSettings::Bic(_) => "bic",
            AlgorithmSettings::Cubic(_) => "cubic",
            AlgorithmSettings::HighSpeed(_) => "highspeed",
            AlgorithmSettings::Scalable(_) => "scalable",
            AlgorithmSettings::Htcp(_) => "htcp",
            AlgorithmSettings::Fast(_) => "fast",
            AlgorithmSettings::Compound(_) => "compound",
            AlgorithmSettings::Westwood(_) => "westwood",
            AlgorithmSettings::Vegas(_) => "vegas",
            AlgorithmSettings::Illinois(_) => "illinois",
            AlgorithmSettings::Veno(_) => "veno",
            AlgorithmSettings::Yeah(_) => "yeah",
            AlgorithmSettings::Lp(_) => "lp",
            AlgorithmSettings::Cdg(_) => "cdg",
            AlgorithmSettings::Nv(_) => "nv",
            AlgorithmSettings::Dctcp(_) => "dctcp",
            AlgorithmSettings::Multcp(_) => "multcp",
            AlgorithmSettings::Lia(_) => "lia",
            AlgorithmSettings::Olia(_) => "olia",
            AlgorithmSettings::Stochastic(_) => "stochastic",
            AlgorithmSettings::Bbr(_) => "bbr",
            AlgorithmSettings::Bbr3(_) => "bbr3",
            AlgorithmSettings::Rule(_) => "rule",
        }
    }
}
