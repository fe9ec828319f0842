"""Picture processing for any array namespace, as a user of NumPy would write it.

Every function takes the namespace ``xp`` (``numpy`` or ``gpuarray``) and float32 arrays. Those that filter also take
``ndi``, ``scipy.ndimage`` or ``gpuarray.scipy.ndimage``. A picture has shape
(3, height, width), one plane per channel, and values between 0 and 1. The functions do not depend on devices or lazy
evaluation.
"""

from typing import Any

LUMINANCE = (0.2126, 0.7152, 0.0722)
"""How much red, green and blue each add to what the eye sees as light (ITU-R BT.709)."""


def normalise(xp: Any, picture: Any) -> Any:
    """Stretch every channel so that its mean becomes 0.5 and one and a half standard deviations reach either end."""
    mean = xp.mean(picture, axis=(1, 2), keepdims=True)
    deviation = xp.sqrt(xp.mean((picture - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    return xp.clip((picture - mean) / (3 * deviation) + 0.5, 0, 1)


def gamma(xp: Any, picture: Any, exponent: float) -> Any:
    """Lighten (an exponent under 1) or darken the middle tones."""
    return xp.pow(picture, exponent)


def unsharp_mask(xp: Any, ndi: Any, picture: Any, amount: float) -> Any:
    """Add the difference between each pixel and a Gaussian mean of its neighbourhood."""
    return xp.clip(picture + amount * (picture - ndi.gaussian_filter(picture, (0, 1, 1))), 0, 1)


def vignette(xp: Any, picture: Any, strength: float) -> Any:
    """Darken a picture towards its corners, by its distance from the centre."""
    height, width = picture.shape[1:]
    y = xp.arange(height, dtype=xp.float32)[:, None] * (2 / (height - 1)) - 1
    x = xp.arange(width, dtype=xp.float32)[None, :] * (2 / (width - 1)) - 1
    return picture * (1 - strength * (x * x + y * y) / 2)


def develop(xp: Any, ndi: Any, picture: Any) -> Any:
    """Run the whole chain: normalise, gamma, unsharp mask, vignette."""
    light = gamma(xp, normalise(xp, picture), 0.75)
    return vignette(xp, unsharp_mask(xp, ndi, light, 0.7), 0.3)


def tones(xp: Any, picture: Any) -> Any:
    """Count the pixels in each of 16 equal steps of luminance, from black to white."""
    red, green, blue = (weight * picture[channel] for channel, weight in enumerate(LUMINANCE))
    step = xp.clip(xp.floor((red + green + blue) * 16), 0, 15)
    return xp.stack([xp.count_nonzero(step == k) for k in range(16)])


def mean_squared_error(xp: Any, one: Any, other: Any) -> Any:
    """Return the mean squared difference of two pictures."""
    return xp.mean((one - other) ** 2)


def from_levels(xp: Any, levels: Any) -> Any:
    """Convert integer levels from 0 to 255, of shape (3, height, width), to a picture."""
    return levels.astype(xp.float32) / 255


def to_levels(xp: Any, picture: Any) -> Any:
    """Convert a picture to integer levels from 0 to 255 of shape (height, width, 3), as in files."""
    return xp.round(xp.permute_dims(picture, (1, 2, 0)) * 255).astype(xp.uint8)
