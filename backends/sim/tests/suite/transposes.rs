//! Loads of RDNA 4 that transpose on their way from memory.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, build, words};

/// What each lane gets of a load by which it names so many bytes from `bytes` times its number on.
fn load(name: &str, bytes: usize) -> Vec<Vec<u8>> {
    let registers = bytes / 4;
    let body = format!(
        "s_load_b128 s[4:7], s[0:1], 0x0\nv_mul_u32_u24 v2, {bytes}, v0\n{{scalar}}\n\
         global_load_tr_{name} v[4:{}], v2, s[4:5]\n{{load}}\n\
         global_store_{name} v2, v[4:{0}], s[6:7]",
        3 + registers
    );
    let object = build::kernel("gfx1201", &body);
    let mut simulator = Simulator::new();
    // 16-bit numbers count elements, bytes count bytes.
    let input: Vec<u8> = match name {
        "b128" => (0..256_u16).flat_map(u16::to_le_bytes).collect(),
        _ => (0..=255).collect(),
    };
    let a = simulator.memory.alloc_input(&input);
    let b = simulator.memory.alloc_output(32 * bytes);
    let launch = Launch {
        block: [32, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let out = words(&simulator.memory.read(b)).bytes();
    out.chunks(bytes).map(<[u8]>::to_vec).collect()
}

/// Eight lanes each load a row of eight numbers, and get a column.
#[test]
fn sixteen_bits_among_eight_lanes() {
    let mut tiles = vec![[[0_u16; 8]; 8]; 4];
    for lane in 0..32 {
        for column in 0..8 {
            tiles[lane / 8][lane % 8][column] = (8 * lane + column) as u16;
        }
    }
    for (lane, found) in load("b128", 16).into_iter().enumerate() {
        let found: Vec<u16> = found
            .chunks(2)
            .map(|two| u16::from_le_bytes([two[0], two[1]]))
            .collect();
        let column: Vec<u16> = tiles[lane / 8].iter().map(|row| row[lane % 8]).collect();
        assert_eq!(found, column, "lane {lane}");
    }
}

/// Four lanes load the left halves of four rows of a 16x16 tile, the next four their right halves;
/// the lower sixteen lanes get the columns of the upper eight rows, the others those of the lower.
#[test]
fn eight_bits_among_sixteen_lanes() {
    let mut tile = [[0_u8; 16]; 16];
    for lane in 0..32 {
        let (row, half) = (lane / 8 * 4 + lane % 4, lane / 4 % 2);
        for column in 0..8 {
            tile[row][8 * half + column] = (8 * lane + column) as u8;
        }
    }
    for (lane, found) in load("b64", 8).into_iter().enumerate() {
        let rows = &tile[lane / 16 * 8..][..8];
        let column: Vec<u8> = rows.iter().map(|row| row[lane % 16]).collect();
        assert_eq!(found, column, "lane {lane}");
    }
}

/// What they do in wave64 nobody has measured.
#[test]
fn wave64_is_refused() {
    let body = "global_load_tr_b128 v[4:5], v2, s[4:5]";
    let object = build::kernel_in("gfx1201", 64, body);
    let unknown = object.unsupported("k").unwrap();
    assert!(unknown[0].reason.contains("wave64"), "{unknown:?}");
}
