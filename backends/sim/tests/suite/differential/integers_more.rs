//! Models of 16-bit integer operations and of those that gfx950 alone has.

use super::integers::{low24, truth, two};
use super::numbers::sext;
use super::table::{Table, longs, words};

fn low16(x: u32) -> u64 {
    u64::from(x) % two(16)
}

/// Operations on 16 bits of registers.
pub fn sixteen(t: &mut Table) {
    let sum = words!(|a, b| (low16(a) + low16(b)) as u32);
    let saturated = words!(|a, b| (low16(a) + low16(b)).min(0xffff) as u32);
    if t.gfx9() {
        let short = "e32 e64 dpp sdwa !l";
        t.short("v_add_u16", short, "D, i0, i1", sum);
        t.tail("v_add_u16", "e64 !l", "D, i0, i1", 16, " clamp", saturated);
        t.short(
            "v_sub_u16",
            short,
            "D, i0, i1",
            words!(|a, b| (two(16) + low16(a) - low16(b)) as u32),
        );
        t.short(
            "v_lshlrev_b16",
            short,
            "D, i0, i1",
            words!(|a, b| (low16(b) * two(a % 16)) as u32),
        );
        t.short(
            "v_lshrrev_b16",
            short,
            "D, i0, i1",
            words!(|a, b| (low16(b) / two(a % 16)) as u32),
        );
        t.short(
            "v_ashrrev_i16",
            short,
            "D, i0, i1",
            words!(|a, b| { sext(b, 16).div_euclid(two(a % 16) as i64) as u32 }),
        );
        t.short(
            "v_max_i16",
            short,
            "D, i0, i1",
            words!(|a, b| sext(a, 16).max(sext(b, 16)) as u32),
        );
        t.short(
            "v_min_u16",
            short,
            "D, i0, i1",
            words!(|a, b| low16(a).min(low16(b)) as u32),
        );
        t.short(
            "v_mul_lo_u16",
            short,
            "D, i0, i1",
            words!(|a, b| (low16(a) * low16(b)) as u32),
        );
        t.short(
            "v_add_i16",
            "3",
            "D, i0, i1",
            words!(|a, b| (sext(a, 16) + sext(b, 16)) as u32),
        );
        t.short(
            "v_max3_i16",
            "3",
            "D, i0, i1, i2",
            words!(|a, b, c| { sext(a, 16).max(sext(b, 16)).max(sext(c, 16)) as u32 }),
        );
        let mad = words!(|a, b, c| (low16(a) * low16(b) + low16(c)) as u32);
        // The newer one keeps the other half of the register, the older one clears it.
        t.keeping("v_mad_u16", "3", "D, i0, i1, i2", mad.clone());
        t.short("v_mad_legacy_u16", "3", "D, i0, i1, i2", mad);
    } else {
        t.short("v_add_nc_u16", "3 !l", "D, i0, i1", sum);
        t.tail("v_add_nc_u16", "3 !l", "D, i0, i1", 16, " clamp", saturated);
        // Halves picked by op_sel: source 0's high one, and the result's.
        t.tail(
            "v_add_nc_u16",
            "3 !c",
            "D, i0, i1",
            16,
            " op_sel:[1,0,0]",
            words!(|a, b| { (low16(a >> 16) + low16(b)) as u32 }),
        );
        t.tail(
            "v_add_nc_u16",
            "3 !c",
            "D, i0, i1",
            16,
            " op_sel:[0,1,0]",
            words!(|a, b| { (low16(a) + low16(b >> 16)) as u32 }),
        );
        t.high(
            "v_add_nc_u16",
            "D, i0, i1",
            " op_sel:[1,1,1]",
            words!(|a, b| { (low16(a >> 16) + low16(b >> 16)) as u32 }),
        );
    }
    t.word(
        "v_pack_b32_f16",
        "3 !c !m",
        "D, h0, h1",
        words!(|a, b| (low16(a) + low16(b) * two(16)) as u32),
    );
    t.tail(
        "v_pack_b32_f16",
        "3 !c !m",
        "D, h0, h1",
        32,
        " op_sel:[1,0,0]",
        words!(|a, b| { (low16(a >> 16) + low16(b) * two(16)) as u32 }),
    );
    t.tail(
        "v_pack_b32_f16",
        "3 !c !m",
        "D, h0, h1",
        32,
        " op_sel:[1,1,0]",
        words!(|a, b| { a >> 16 | b >> 16 << 16 }),
    );
}

/// What gfx950 has besides.
pub fn cdna(t: &mut Table) {
    let short = "e32 e64 dpp sdwa";
    let two_words = "D, i0, i1";
    let three = "D, i0, i1, i2";
    t.tail(
        "v_add_u32",
        "e64",
        two_words,
        32,
        " clamp",
        words!(|a, b| { (u64::from(a) + u64::from(b)).min(two(32) - 1) as u32 }),
    );
    let limits = |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as u32;
    t.word(
        "v_add_i32",
        "3",
        two_words,
        words!(|a, b| (sext(a, 32) + sext(b, 32)) as u32),
    );
    t.tail(
        "v_add_i32",
        "3",
        two_words,
        32,
        " clamp",
        words!(|a, b| limits(sext(a, 32) + sext(b, 32))),
    );
    t.word(
        "v_sub_i32",
        "3",
        two_words,
        words!(|a, b| (sext(a, 32) - sext(b, 32)) as u32),
    );
    t.word(
        "v_alignbyte_b32",
        "3",
        three,
        words!(|a, b, c| {
            ((u128::from(a) << 32 | u128::from(b)) / u128::from(two(c % 4 * 8))) as u32
        }),
    );
    t.word(
        "v_bcnt_u32_b32",
        "3",
        two_words,
        words!(|a, b| {
            ((0..32).map(|bit| u64::from(a >> bit & 1)).sum::<u64>() + u64::from(b)) as u32
        }),
    );
    t.word(
        "v_bfe_i32",
        "3",
        three,
        words!(|a, b, c| match c % 32 {
            0 => 0,
            width => sext((sext(a, 32) >> (b % 32)) as u32, width) as u32,
        }),
    );
    t.word(
        "v_bfrev_b32",
        short,
        "D, i0",
        words!(|a| (0..32).fold(0, |r, bit| r | (a >> bit & 1) << (31 - bit))),
    );
    t.word("v_not_b32", short, "D, i0", words!(|a| u32::MAX - a));
    t.word(
        "v_xnor_b32",
        short,
        two_words,
        words!(|a, b| truth(0xc3, a, b, 0)),
    );
    let first = |mut places: Box<dyn Iterator<Item = u32>>, test: &dyn Fn(u32) -> bool| {
        places.position(test).map_or(u32::MAX, |at| at as u32)
    };
    t.word(
        "v_ffbh_u32",
        short,
        "D, i0",
        words!(|a| { first(Box::new((0..32).rev()), &|bit| a >> bit & 1 == 1) }),
    );
    t.word(
        "v_ffbl_b32",
        short,
        "D, i0",
        words!(|a| first(Box::new(0..32), &|bit| a >> bit & 1 == 1)),
    );
    t.word(
        "v_ffbh_i32",
        short,
        "D, i0",
        words!(|a| { first(Box::new((0..32).rev()), &|bit| a >> bit & 1 != a >> 31) }),
    );
    t.word(
        "v_mad_i32_i16",
        "3 !c",
        three,
        words!(|a, b, c| { (sext(a, 16) * sext(b, 16) + sext(c, 32)) as u32 }),
    );
    t.word(
        "v_mad_u32_u16",
        "3 !c",
        three,
        words!(|a, b, c| { (low16(a) * low16(b) + u64::from(c)) as u32 }),
    );
    t.word(
        "v_mad_i32_i24",
        "3",
        three,
        words!(|a, b, c| { (sext(a, 24) * sext(b, 24) + sext(c, 32)) as u32 }),
    );
    t.word(
        "v_max3_i32",
        "3",
        three,
        words!(|a, b, c| { sext(a, 32).max(sext(b, 32)).max(sext(c, 32)) as u32 }),
    );
    t.word("v_max_u32", short, two_words, words!(|a, b| a.max(b)));
    t.word(
        "v_mul_hi_i32",
        "3",
        two_words,
        words!(|a, b| ((sext(a, 32) * sext(b, 32)) >> 32) as u32),
    );
    t.word(
        "v_mul_hi_u32_u24",
        short,
        two_words,
        words!(|a, b| (low24(a) * low24(b) / two(32)) as u32),
    );
    t.word(
        "v_mul_hi_i32_i24",
        short,
        two_words,
        words!(|a, b| ((sext(a, 24) * sext(b, 24)) >> 32) as u32),
    );
    t.word(
        "v_mul_i32_i24",
        short,
        two_words,
        words!(|a, b| (sext(a, 24) * sext(b, 24)) as u32),
    );
    t.word(
        "v_sad_u32",
        "3",
        three,
        words!(|a, b, c| {
            ((sext(0, 32) + i64::from(a) - i64::from(b)).abs() + i64::from(c)) as u32
        }),
    );
    t.word(
        "v_xad_u32",
        "3",
        three,
        words!(|a, b, c| { (u64::from(truth(0x3c, a, b, 0)) + u64::from(c)) as u32 }),
    );
    for (name, low, high) in [
        ("v_ashr_pk_i8_i32", -128, 127),
        ("v_ashr_pk_u8_i32", 0, 255),
    ] {
        let byte = move |x: u32, by: u32| {
            let shifted: i64 = sext(x, 32).div_euclid(two(by % 32) as i64).clamp(low, high);
            shifted as u32 & 0xff
        };
        // Of the destination AMD names the low half alone.
        t.keeping(
            name,
            "3",
            three,
            words!(|a, b, c| byte(a, c) | byte(b, c) << 8),
        );
    }
    for table in [0x40, 0x96, 0x1b, 0xff] {
        let tail: &'static str = match table {
            0x40 => " bitop3:0x40",
            0x96 => " bitop3:0x96",
            0x1b => " bitop3:0x1b",
            _ => " bitop3:0xff",
        };
        t.tail(
            "v_bitop3_b32",
            "3",
            three,
            32,
            tail,
            words!(|a, b, c| truth(table, a, b, c)),
        );
        t.kept(
            "v_bitop3_b16",
            "3 !l",
            three,
            tail,
            words!(|a, b, c| truth(table, a, b, c)),
        );
    }
    t.long(
        "v_lshl_add_u64",
        "3",
        "DD, q0, i1, q2",
        longs(|a, b, c| {
            // Shifts are 0 to 4 in AMD's text and three bits wide in its pseudo-code.
            ((u128::from(a) << (b % 8)) + u128::from(c)) as u64
        }),
    );
    t.long(
        "v_lshrrev_b64",
        "3",
        "DD, i0, q1",
        longs(|a, b, _| b / (1 << (a % 64))),
    );
    t.long(
        "v_ashrrev_i64",
        "3",
        "DD, i0, q1",
        longs(|a, b, _| (b as i64 >> (a % 64)) as u64),
    );
    t.long("v_mov_b64", "e32 e64 dpp", "DD, q0", longs(|a, _, _| a));
}
