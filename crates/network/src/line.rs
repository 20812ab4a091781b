use longhaul_link::{Bundle, Line, Link, LinkPacket};
use longhaul_plan::Direction;
use longhaul_random::Seed;
use longhaul_units::Span;

/// A direction of a plan at work: a link, or parallel routes. It draws from the streams of `name`.
pub fn line<P: LinkPacket>(direction: &Direction, seed: &Seed, name: &str, coalesce: Span) -> Line<P> {
    match &direction.bundle {
        None => Link::new(direction.link_model(), seed, name, coalesce).into(),
        Some(bundle) => {
            let bundle = Bundle::new(direction.up, bundle.as_ref().clone(), seed, name);
            Line::Bundle(Box::new(bundle))
        }
    }
}
