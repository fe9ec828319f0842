// step 0: reads [0], writes [1]
//   loop 1+1
//   %0:f:float32 = load 0 c
//   %1:o:int64 = fold argmax %0:float32
//   store 0:int64 %1 o c

// workgroups: 8 x 1 x 1
// library: i64_from_u32
// in range: no index is out of bounds
// rows_argmax
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<i64>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn key1(x: f32) -> i32 {
  let bits = bitcast<i32>(bitcast<u32>(x));
  let ordered = bits ^ ((bits >> 31u) & 0x7fffffff);
  return select(select(ordered, 0, ordered == -1), 0x7fffffff, (bits & 0x7fffffff) > 0x7f800000);
}
var<workgroup> shared0_i32: array<i32, 256>;
var<workgroup> shared1_u32: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
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
  var a1: i32 = (-2147483647i - 1i);
  var p1: u32 = 4294967295u;
  let b0_0 = row * parameters.words[1].x;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  if (at0 < end) {
  {
  let key1_0 = key1(v0_0);
  let key1_1 = key1(v0_1);
  let key1_2 = key1(v0_2);
  let key1_3 = key1(v0_3);
  let best1 = max(max(key1_0, key1_1), max(key1_2, key1_3));
  if ((best1 > a1) | (p1 == 0xffffffffu)) {
  if ((key1_0 > a1) | ((key1_0 == a1) & (i0 + origin < p1))) { a1 = key1_0; p1 = i0 + origin; }
  if ((key1_1 > a1) | ((key1_1 == a1) & (i1 + origin < p1))) { a1 = key1_1; p1 = i1 + origin; }
  if ((key1_2 > a1) | ((key1_2 == a1) & (i2 + origin < p1))) { a1 = key1_2; p1 = i2 + origin; }
  if ((key1_3 > a1) | ((key1_3 == a1) & (i3 + origin < p1))) { a1 = key1_3; p1 = i3 + origin; }
  } }
  }
  shared0_i32[local] = a1;
  shared1_u32[local] = p1;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  if ((shared0_i32[local + half] > a1) | ((shared0_i32[local + half] == a1) & (shared1_u32[local + half] < p1))) { a1 = shared0_i32[local + half]; p1 = shared1_u32[local + half]; }
  shared0_i32[local] = a1;
  shared1_u32[local] = p1;
  }
  workgroupBarrier();
  }
  a1 = shared0_i32[local & 4294967264u];
  p1 = shared1_u32[local & 4294967264u];
  workgroupBarrier();
  let one1: i64 = i64_from_u32(p1);
  if (lane == 0u && end > 0u) { output0[row * parameters.words[1].y] = one1; }
}
