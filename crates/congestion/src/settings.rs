use crate::bbr::{Bbr3Settings, BbrSettings};
use crate::bic::BicSettings;
use crate::compound::CompoundSettings;
use crate::cubic::CubicSettings;
use crate::dctcp::DctcpSettings;
use crate::fast::FastSettings;
use crate::highspeed::HighSpeedSettings;
use crate::htcp::HtcpSettings;
use crate::illinois::IllinoisSettings;
use crate::multcp::MultcpSettings;
use crate::reno::RenoSettings;
use crate::scalable::ScalableSettings;
use crate::stochastic::StochasticSettings;
use crate::tahoe::TahoeSettings;
use crate::vegas::VegasSettings;
use crate::westwood::WestwoodSettings;
use serde::{Deserialize, Serialize};

/// Which law, with its parameters; plain data, as a plan has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Settings {
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
    /// RFC 8257.
    Dctcp(DctcpSettings),
    /// MulTCP (Crowcroft, Oechslin 1998).
    Multcp(MultcpSettings),
    /// Stochastic TCP, a reconstruction (Hacker, Smith 2008).
    Stochastic(StochasticSettings),
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr(BbrSettings),
    /// BBR, version 3 (draft-ietf-ccwg-bbr-06).
    Bbr3(Bbr3Settings),
}

/// The names of all laws.
pub const NAMES: [&str; 17] = [
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
    "dctcp",
    "multcp",
    "stochastic",
    "bbr",
    "bbr3",
];

impl Settings {
    /// The law of this name with its customary parameters; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "tahoe" => Settings::Tahoe(TahoeSettings::default()),
            "reno" => Settings::Reno(RenoSettings::default()),
            "bic" => Settings::Bic(BicSettings::default()),
            "cubic" => Settings::Cubic(CubicSettings::default()),
            "highspeed" => Settings::HighSpeed(HighSpeedSettings::default()),
            "scalable" => Settings::Scalable(ScalableSettings::default()),
            "htcp" => Settings::Htcp(HtcpSettings::default()),
            "fast" => Settings::Fast(FastSettings::default()),
            "compound" => Settings::Compound(CompoundSettings::default()),
            "westwood" => Settings::Westwood(WestwoodSettings::default()),
            "vegas" => Settings::Vegas(VegasSettings::default()),
            "illinois" => Settings::Illinois(IllinoisSettings::default()),
            "dctcp" => Settings::Dctcp(DctcpSettings::default()),
            "multcp" => Settings::Multcp(MultcpSettings::default()),
            "stochastic" => Settings::Stochastic(StochasticSettings::default()),
            "bbr" => Settings::Bbr(BbrSettings::default()),
            "bbr3" => Settings::Bbr3(Bbr3Settings::default()),
            _ => return None,
        })
    }

    /// Whether the law draws: without it, a connection need not keep a stream, and
    /// [`Law::on_lost`](crate::Law::on_lost) and [`Law::on_start`](crate::Law::on_start) do nothing.
    pub fn draws(&self) -> bool {
        matches!(self, Settings::Stochastic(_) | Settings::Bbr(_) | Settings::Bbr3(_))
    }

    /// Whether segments should be sent ECN-capable for this law to work (DCTCP).
    pub fn wants_marks(&self) -> bool {
        matches!(self, Settings::Dctcp(_))
    }

    /// The law's name, without its parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Settings::Tahoe(_) => "tahoe",
            Settings::Reno(_) => "reno",
            Settings::Bic(_) => "bic",
            Settings::Cubic(_) => "cubic",
            Settings::HighSpeed(_) => "highspeed",
            Settings::Scalable(_) => "scalable",
            Settings::Htcp(_) => "htcp",
            Settings::Fast(_) => "fast",
            Settings::Compound(_) => "compound",
            Settings::Westwood(_) => "westwood",
            Settings::Vegas(_) => "vegas",
            Settings::Illinois(_) => "illinois",
            Settings::Dctcp(_) => "dctcp",
            Settings::Multcp(_) => "multcp",
            Settings::Stochastic(_) => "stochastic",
            Settings::Bbr(_) => "bbr",
            Settings::Bbr3(_) => "bbr3",
        }
    }
}
