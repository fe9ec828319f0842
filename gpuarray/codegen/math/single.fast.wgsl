// The driver's own functions of single precision, for config.math = "fast". WGSL allows them large errors, and promises
// nothing for NaN, infinities, subnormal numbers and large arguments.

fn exp_f32(x: f32) -> f32 { return exp(x); }
fn exp2_f32(x: f32) -> f32 { return exp2(x); }
fn log_f32(x: f32) -> f32 { return log(x); }
fn log2_f32(x: f32) -> f32 { return log2(x); }
fn sin_f32(x: f32) -> f32 { return sin(x); }
fn cos_f32(x: f32) -> f32 { return cos(x); }
fn tan_f32(x: f32) -> f32 { return tan(x); }
fn sqrt_f32(x: f32) -> f32 { return sqrt(x); }
fn divide_f32(x: f32, y: f32) -> f32 { return x / y; }
