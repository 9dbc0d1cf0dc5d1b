//! A few workgroups of a large grid: its corners, its edges, its inside.

use std::collections::BTreeSet;

use serde::Serialize;

/// Which workgroups of a launch run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    /// About this many, all of them where the grid has no more: every corner of the grid, and of
    /// what is left one half along its edges and one half inside, spread evenly. The same ones
    /// every time.
    Spread(u32),
    /// These.
    Only(Vec<[u32; 3]>),
}

/// The workgroups that ran, where not all did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sampled {
    /// Their ids, in grid order.
    pub workgroups: Vec<[u32; 3]>,
    /// Workgroups of the whole grid.
    pub of: u64,
}

impl Sampled {
    pub(crate) fn note(&self) -> String {
        format!(
            "{} of {} workgroups ran: what the others write is untouched, and checks between \
             workgroups saw these alone",
            self.workgroups.len(),
            self.of
        )
    }
}

impl Sample {
    /// Places in the grid (x fastest) of the workgroups to run, in order; none stands for all. The
    /// error says which workgroup is not in the grid.
    pub(crate) fn pick(&self, grid: [u32; 3]) -> Result<Option<Vec<u32>>, String> {
        let place = |[x, y, z]: [u32; 3]| (z * grid[1] + y) * grid[0] + x;
        let picked: BTreeSet<u32> = match self {
            Sample::Spread(most) => {
                let all: u32 = grid.iter().product();
                if *most >= all {
                    return Ok(None);
                }
                spread(grid, (*most).max(1))
                    .into_iter()
                    .map(place)
                    .collect()
            }
            Sample::Only(ids) => {
                for id in ids {
                    if (0..3).any(|axis| id[axis] >= grid[axis]) {
                        return Err(format!("workgroup {id:?} is not in the grid {grid:?}"));
                    }
                }
                ids.iter().copied().map(place).collect()
            }
        };
        Ok(Some(picked.into_iter().collect()))
    }
}

/// A range of workgroup ids along each axis.
type Region = [(u32, u32); 3];

/// Corners first, then edges and inside by turns until `most` are found.
fn spread(grid: [u32; 3], most: u32) -> Vec<[u32; 3]> {
    let mut corners = Vec::new();
    let mut edges = Vec::new();
    let mut inside = Vec::new();
    for code in 0..27_u32 {
        let part = [code % 3, code / 3 % 3, code / 9];
        let region: Region = std::array::from_fn(|axis| {
            let last = grid[axis] - 1;
            match (part[axis], last) {
                // An axis of extent 1 has no ends: all of it is inside.
                (0, 0) => (0, 0),
                (1, 0) => (0, 1),
                (0, _) => (0, 1),
                (1, last) => (1, last),
                (_, last) => (last, last + u32::from(last > 0)),
            }
        });
        if region.iter().any(|(start, end)| start >= end) {
            continue;
        }
        let ends = (0..3).filter(|&axis| part[axis] != 1).count();
        let axes = grid.iter().filter(|&&extent| extent > 1).count();
        match ends {
            0 => inside.push(region),
            _ if ends == axes => corners.push(region),
            _ => edges.push(region),
        }
    }
    let mut picked: Vec<[u32; 3]> = corners
        .iter()
        .map(|region| region.map(|(start, _)| start))
        .take(most as usize)
        .collect();
    let left = most as usize - picked.len();
    let along = draw(&edges, left.div_ceil(2));
    let within = draw(&inside, left - along.len());
    // A thin grid has little inside: what that leaves goes to the edges.
    let more = draw(&edges, left - within.len());
    picked.extend(more);
    picked.extend(within);
    picked
}

/// Up to `most` workgroups of the regions, one of each by turns, spread over each.
fn draw(regions: &[Region], most: usize) -> Vec<[u32; 3]> {
    let mut picked = Vec::new();
    let mut seen = BTreeSet::new();
    let mut rest: Vec<_> = regions.iter().map(members).collect();
    for turn in 0..most as u64 {
        let before = picked.len();
        for (region, rest) in regions.iter().zip(&mut rest) {
            if picked.len() == most {
                return picked;
            }
            // Scattered first, then the first one that is left.
            let candidate = scattered(region, turn);
            let free = |id: &[u32; 3]| !seen.contains(id);
            let found = Some(candidate).filter(free).or_else(|| rest.find(free));
            if let Some(id) = found {
                seen.insert(id);
                picked.push(id);
            }
        }
        if picked.len() == before {
            break;
        }
    }
    picked
}

fn members(region: &Region) -> impl Iterator<Item = [u32; 3]> + use<> {
    let [x, y, z] = region.map(|(start, end)| start..end);
    z.flat_map(move |z| {
        let x = x.clone();
        y.clone()
            .flat_map(move |y| x.clone().map(move |x| [x, y, z]))
    })
}

/// Member `turn` of a sequence that fills a region evenly: multiples of the powers of the inverse
/// of the number whose fourth power is itself plus one (Roberts, "The unreasonable effectiveness
/// of quasirandom sequences", 2018), from the middle on.
fn scattered(region: &Region, turn: u64) -> [u32; 3] {
    const STEPS: [u64; 3] = [0xd1b5_4a33, 0xabc9_8389, 0x8cb9_2ba7];
    std::array::from_fn(|axis| {
        let (start, end) = region[axis];
        let fraction = (0x8000_0000 + turn.wrapping_mul(STEPS[axis])) & 0xffff_ffff;
        start + ((fraction * u64::from(end - start)) >> 32) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(grid: [u32; 3], most: u32) -> Vec<[u32; 3]> {
        let picked = Sample::Spread(most).pick(grid).unwrap();
        let all: u32 = grid.iter().product();
        picked
            .unwrap_or_else(|| (0..all).collect())
            .into_iter()
            .map(|at| [at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]])
            .collect()
    }

    #[test]
    fn corners_come_first_then_edges_and_inside() {
        let grid = [100, 50, 1];
        let corners = [[0, 0, 0], [99, 0, 0], [0, 49, 0], [99, 49, 0]];
        assert_eq!(ids(grid, 4), corners);
        let picked = ids(grid, 16);
        assert_eq!(picked.len(), 16);
        assert!(corners.iter().all(|corner| picked.contains(corner)));
        let ends = |id: &[u32; 3]| {
            u32::from(id[0].is_multiple_of(99)) + u32::from(id[1].is_multiple_of(49))
        };
        assert_eq!(picked.iter().filter(|id| ends(id) == 1).count(), 6);
        assert_eq!(picked.iter().filter(|id| ends(id) == 0).count(), 6);
    }

    #[test]
    fn as_many_as_asked_for_and_each_once() {
        for grid in [
            [1, 1, 1],
            [7, 1, 1],
            [2, 2, 1],
            [2, 9, 1],
            [3, 3, 3],
            [1, 5, 4],
            [40, 1, 30],
        ] {
            let all: u32 = grid.iter().product();
            for most in (1..=all + 1).step_by(1 + all as usize / 40) {
                let picked: BTreeSet<_> = ids(grid, most).into_iter().collect();
                assert_eq!(picked.len() as u32, most.min(all), "{grid:?} {most}");
            }
        }
        assert_eq!(ids([1 << 15, 1 << 15, 1], 1000).len(), 1000);
    }

    #[test]
    fn given_workgroups_are_looked_for() {
        let only = Sample::Only(vec![[3, 1, 0], [0, 0, 0], [3, 1, 0]]);
        assert_eq!(only.pick([4, 2, 1]), Ok(Some(vec![0, 7])));
        assert!(only.pick([3, 2, 1]).is_err());
    }
}
