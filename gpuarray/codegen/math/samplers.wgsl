// What the samplers of one precision do not share with the other.

const smallest_chance_f32 = 1e-10f;
const smallest_chance_f64 = 1e-19lf;
const least_kappa_f32 = 1e-3f;
const least_kappa_f64 = 1e-5lf;
const most_kappa_f32 = 1e4f;
const most_kappa_f64 = 1e6lf;
const most_zipf_f32 = 120.0f;
const most_zipf_f64 = 1025.0lf;
