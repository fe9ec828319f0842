// step 0: reads [0], writes [1]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   %1:f:int16 = cast %0:float32
//   store 0:int16 %1 f c

// workgroups: 1 x 1 x 1
// library: i32_from_f32
// in range: no index is out of bounds
// map_cast
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec2<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let w0 = input0[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v1_0: i32 = (((i32(i32_from_f32(v0_0))) << 16u) >> 16u);
  let v1_1: i32 = (((i32(i32_from_f32(v0_1))) << 16u) >> 16u);
  let v1_2: i32 = (((i32(i32_from_f32(v0_2))) << 16u) >> 16u);
  let v1_3: i32 = (((i32(i32_from_f32(v0_3))) << 16u) >> 16u);
  output0[first / 4u] = vec2<u32>(((bitcast<u32>(v1_0) & 0xffffu) | ((bitcast<u32>(v1_1) & 0xffffu) << 16u)), ((bitcast<u32>(v1_2) & 0xffffu) | ((bitcast<u32>(v1_3) & 0xffffu) << 16u)));
}
