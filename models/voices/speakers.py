"""How many people speak in a clip."""
from __future__ import annotations

from collections import Counter

import numpy as np

from models.voices.speaker import speaker_encoder

APART = 0.36  # mean cosine distance between the parts of two speakers; one speaker's stay below 0.34, two are above 0.38
FEWEST = 2  # parts of 1.6 s: a lone one is a transition or a laugh
SHARE = 0.1  # of all parts


def count_speakers(samples: np.ndarray, rate: int) -> int:
    """The speakers suspected, at least 1. samples: float mono speech without long pauses.

    Embeddings of overlapping parts of 1.6 s are clustered by average linkage. People who sound much alike count as one.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    parts = speaker_encoder().embed_parts(samples, rate)
    if len(parts) < 2 * FEWEST:
        return 1
    groups = Counter(fcluster(linkage(parts, "average", metric="cosine"), APART, "distance").tolist())
    return max(1, sum(size >= max(FEWEST, SHARE * len(parts)) for size in groups.values()))
