// The bits of 2/pi after a first word of zeros, by words of the two widths. Written by bench/coefficients.

const two_over_pi_words_u32 = array<u32, 8>(
  0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
const two_over_pi_words_u64 = array<u64, 20>(
  0x0000000000000000lu, 0xa2f9836e4e441529lu, 0xfc2757d1f534ddc0lu, 0xdb6295993c439041lu, 0xfe5163abdebbc561lu,
  0xb7246e3a424dd2e0lu, 0x06492eea09d1921clu, 0xfe1deb1cb129a73elu, 0xe88235f52ebb4484lu, 0xe99c7026b45f7e41lu,
  0x3991d639835339f4lu, 0x9c845f8bbdf9283blu, 0x1ff897ffde05980flu, 0xef2f118b5a0a6d1flu, 0x6d367ecf27cb09b7lu,
  0x4f463f669e5fea2dlu, 0x7527bac7ebe5f17blu, 0x3d0739f78a5292ealu, 0x6bfb5fb11f8d5d08lu, 0x56033046fc7b6bablu);
fn two_over_pi_u32(i: u32) -> u32 { return two_over_pi_words_u32[i]; }
fn two_over_pi_u64(i: u32) -> u64 { return two_over_pi_words_u64[i]; }
