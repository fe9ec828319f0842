// step 0: reads [0], writes [1]
//   loop 1+1
//   %0:f:bool = load 0 c
//   %1:o:bool = fold any %0:bool
//   store 0:bool %1 o c

// workgroups: 50 x 1 x 1
// library: none
// in range: no index is out of bounds
// rows_any
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> output0: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_u32: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 2u + local / 128u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 127u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let origin = 0u;
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[0].w);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  let at4 = lane * 4u + 512u;
  let i4 = min(at4, parameters.words[0].w);
  let at5 = at4 + 1u;
  let i5 = i4 + 1u;
  let at6 = at4 + 2u;
  let i6 = i4 + 2u;
  let at7 = at4 + 3u;
  let i7 = i4 + 3u;
  var a1: bool = false;
  let b0_0 = row * parameters.words[1].x;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let w0_4 = input0[(b0_0 + i4) / 4u];
  let v0_0: bool = (((w0_0 >> 0u) & 0xffu) != 0u);
  let v0_1: bool = (((w0_0 >> 8u) & 0xffu) != 0u);
  let v0_2: bool = (((w0_0 >> 16u) & 0xffu) != 0u);
  let v0_3: bool = (((w0_0 >> 24u) & 0xffu) != 0u);
  let v0_4: bool = (((w0_4 >> 0u) & 0xffu) != 0u);
  let v0_5: bool = (((w0_4 >> 8u) & 0xffu) != 0u);
  let v0_6: bool = (((w0_4 >> 16u) & 0xffu) != 0u);
  let v0_7: bool = (((w0_4 >> 24u) & 0xffu) != 0u);
  a1 = (a1 || (((select(false, v0_0, (at0 < end)) || select(false, v0_1, (at0 < end))) || (select(false, v0_2, (at0 < end)) || select(false, v0_3, (at0 < end)))) || ((select(false, v0_4, (at4 < end)) || select(false, v0_5, (at4 < end))) || (select(false, v0_6, (at4 < end)) || select(false, v0_7, (at4 < end))))));
  shared0_u32[local] = select(0u, 1u, a1);
  workgroupBarrier();
  for (var half = 64u; half >= 1u; half >>= 1u) {
  if ((local & 127u) < half) {
  a1 = (a1 || (shared0_u32[local + half] != 0u));
  shared0_u32[local] = select(0u, 1u, a1);
  }
  workgroupBarrier();
  }
  a1 = (shared0_u32[local & 4294967168u] != 0u);
  workgroupBarrier();
  let one1: bool = a1;
  if (lane == 0u && end > 0u) { atomicAnd(&output0[(row * parameters.words[1].y) >> 2u], ~(0xffu << (((row * parameters.words[1].y) & 3u) * 8u))); atomicOr(&output0[(row * parameters.words[1].y) >> 2u], select(0u, 1u, one1) << (((row * parameters.words[1].y) & 3u) * 8u)); }
}
