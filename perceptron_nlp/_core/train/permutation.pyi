import numpy as np
from numpy.typing import NDArray

def permutation(n: int, seed: int, epoch: int) -> NDArray[np.int64]: ...
