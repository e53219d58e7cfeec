"""ALBERT (Lan et al. 2020) over phonemes: one transformer layer whose weights serve all twelve repetitions.

Module names are those of the published checkpoints. Inference only, batch of one without padding, so no mask is needed.
"""
from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

LAYER_NORM_EPSILON = 1e-12


class Embeddings(nn.Module):
    def __init__(self, tokens: int, positions: int, width: int):
        super().__init__()
        self.word_embeddings = nn.Embedding(tokens, width)
        self.position_embeddings = nn.Embedding(positions, width)
        self.token_type_embeddings = nn.Embedding(2, width)
        self.LayerNorm = nn.LayerNorm(width, eps=LAYER_NORM_EPSILON)

    def forward(self, ids: Tensor) -> Tensor:
        position = self.position_embeddings.weight[: ids.shape[1]]
        return self.LayerNorm(self.word_embeddings(ids) + self.token_type_embeddings.weight[0] + position)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.dense = nn.Linear(width, width)
        self.LayerNorm = nn.LayerNorm(width, eps=LAYER_NORM_EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        query, key, value = (
            project(x).view(batch, time, self.heads, width // self.heads).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self.LayerNorm(x + self.dense(mixed.transpose(1, 2).reshape(batch, time, width)))


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.attention = Attention(width, heads)
        self.ffn = nn.Linear(width, inner)
        self.ffn_output = nn.Linear(inner, width)
        self.full_layer_layer_norm = nn.LayerNorm(width, eps=LAYER_NORM_EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        x = self.attention(x)
        return self.full_layer_layer_norm(x + self.ffn_output(F.gelu(self.ffn(x), approximate="tanh")))


class LayerGroup(nn.Module):
    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.albert_layers = nn.ModuleList([Layer(width, heads, inner)])


class Encoder(nn.Module):
    def __init__(self, embedding: int, width: int, heads: int, inner: int, repetitions: int):
        super().__init__()
        self.repetitions = repetitions
        self.embedding_hidden_mapping_in = nn.Linear(embedding, width)
        self.albert_layer_groups = nn.ModuleList([LayerGroup(width, heads, inner)])

    def forward(self, x: Tensor) -> Tensor:
        x = self.embedding_hidden_mapping_in(x)
        layer = self.albert_layer_groups[0].albert_layers[0]
        for _ in range(self.repetitions):
            x = layer(x)
        return x


class Albert(nn.Module):
    """ids int64 [1, time] (at most `positions`) -> [1, time, width]."""

    def __init__(self, tokens: int, positions: int = 512, embedding: int = 128, width: int = 768, heads: int = 12,
                 inner: int = 2048, repetitions: int = 12):
        super().__init__()
        self.embeddings = Embeddings(tokens, positions, embedding)
        self.encoder = Encoder(embedding, width, heads, inner, repetitions)

    def forward(self, ids: Tensor) -> Tensor:
        return self.encoder(self.embeddings(ids))
