"""The special functions: one line a row."""

from gpuarray.api.elementwise import binary, unary
from gpuarray.ops import special as rows

digamma = unary(rows.ROWS["digamma"])
entr = unary(rows.ROWS["entr"])
erf = unary(rows.ROWS["erf"])
erfc = unary(rows.ROWS["erfc"])
erfcinv = unary(rows.ROWS["erfcinv"])
erfcx = unary(rows.ROWS["erfcx"])
erfinv = unary(rows.ROWS["erfinv"])
expit = unary(rows.ROWS["expit"])
exprel = unary(rows.ROWS["exprel"])
gamma = unary(rows.ROWS["gamma"])
gammaln = unary(rows.ROWS["gammaln"])
gammasgn = unary(rows.ROWS["gammasgn"])
i0 = unary(rows.ROWS["i0"])
i0e = unary(rows.ROWS["i0e"])
i1 = unary(rows.ROWS["i1"])
i1e = unary(rows.ROWS["i1e"])
kl_div = binary(rows.ROWS["kl_div"])
log_expit = unary(rows.ROWS["log_expit"])
log_ndtr = unary(rows.ROWS["log_ndtr"])
loggamma = unary(rows.ROWS["loggamma"])
logit = unary(rows.ROWS["logit"])
ndtr = unary(rows.ROWS["ndtr"])
ndtri = unary(rows.ROWS["ndtri"])
rel_entr = binary(rows.ROWS["rel_entr"])
rgamma = unary(rows.ROWS["rgamma"])
sinc = unary(rows.ROWS["sinc"])
xlog1py = binary(rows.ROWS["xlog1py"])
xlogy = binary(rows.ROWS["xlogy"])
psi = digamma
