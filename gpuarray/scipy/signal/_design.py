"""The design of filters, windows and their analysis, which take little work: SciPy does it on the host.

What they return are arrays of this package, like the arguments of the functions that use them.
"""

from typing import Final

from scipy import signal

from gpuarray.scipy._mirror import designed

_NAMES: Final = (
    "abcd_normalize", "band_stop_obj", "besselap", "bessel", "bilinear", "bilinear_zpk", "bode", "buttap", "butter",
    "buttord", "cheb1ap", "cheb1ord", "cheb2ap", "cheb2ord", "cheby1", "cheby2", "check_COLA", "check_NOLA",
    "closest_STFT_dual_window", "cont2discrete", "correlation_lags", "czt_points", "dbode", "dfreqresp", "dimpulse",
    "dstep", "ellip", "ellipap", "ellipord", "findfreqs", "firls", "firwin", "firwin2", "firwin_2d", "freqresp",
    "freqs", "freqs_zpk", "freqz", "freqz_sos", "freqz_zpk", "gammatone", "get_window", "group_delay", "iircomb",
    "iirdesign", "iirfilter", "iirnotch", "iirpeak", "impulse", "invres", "invresz", "kaiser_atten", "kaiser_beta",
    "kaiserord", "lfilter_zi", "lfiltic", "lp2bp", "lp2bp_zpk", "lp2bs", "lp2bs_zpk", "lp2hp", "lp2hp_zpk", "lp2lp",
    "lp2lp_zpk", "max_len_seq", "minimum_phase", "normalize", "place_poles", "remez", "residue", "residuez",
    "savgol_coeffs", "sos2tf", "sos2zpk", "sosfilt_zi", "sosfreqz", "ss2tf", "ss2zpk", "step", "tf2sos", "tf2ss",
    "tf2zpk", "unique_roots", "unit_impulse", "zpk2sos", "zpk2ss", "zpk2tf",
)  # fmt: skip


_KNOWN: Final = {n: designed(getattr(signal, n), f"signal.{n}") for n in _NAMES if hasattr(signal, n)}
globals().update(_KNOWN)

__all__ = [*_KNOWN]
