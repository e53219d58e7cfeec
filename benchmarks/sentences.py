"""Texts that benchmarks speak: everyday sentences without digits, so that every engine reads the same words."""
from __future__ import annotations

ENGLISH = (  # 5 to 40 words
    "Dinner is ready at last.",
    "The last bus leaves before midnight.",
    "She put the letters back into the drawer.",
    "Nobody in the village remembered a winter as cold as this.",
    "If it rains tomorrow, we will move the whole party into the barn.",
    "He opened the old map, found the river with his finger, and began to laugh.",
    "The museum keeps its oldest paintings in a dark room, because light would fade them within years.",
    "Before you take the cake out of the oven, push a needle into the middle and see whether it comes out clean.",
    "We walked along the harbour until the shops had closed, talking about the summer when all of us still lived in the same street.",
    "The engineer explained that the bridge would have to be closed for a month, since two of the cables had worn thin "
    "and no one could promise that they would hold.",
    "When the storm had passed, the fishermen pulled their boats back into the water, counted the nets that were left, "
    "and sailed out again, because a day on land was a day without any pay.",
    "My grandmother never wrote down a recipe in her life, yet everyone who ate at her table remembers the smell of the "
    "bread, the taste of the soup, and the way she watched us until every single plate was empty.",
)
