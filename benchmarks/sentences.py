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

LONG = (  # more than one segment each: the first half has clauses, the second has none
    *ENGLISH[7:],
    "When the rain finally stopped, the whole family went down to the beach and looked for shells until it was dark.",
    "Although nobody had expected it, the smallest team of the whole league won the cup for the second time in a row.",
    "If you are looking for a quiet place to read, the library on the third floor is open until ten every evening.",
    "As soon as the bell rang, the children ran out of the building and across the yard to the ice cream van.",
    "Because the bridge was closed for repairs, the bus took the long way round the lake and arrived an hour late.",
    "In the middle of the night, a loud noise from the kitchen woke everyone in the house except the old dog.",
    "She opened the letter slowly, read it twice without a word, and put it back into the drawer of her desk.",
    "The shop on the corner sells fresh bread, which is baked every morning in a wood oven behind the counter.",
    "The committee decided to postpone the annual meeting of the shareholders until the beginning of next month.",
    "People who live near the old railway station often complain about the noise of the heavy trains at night.",
    "Every morning before breakfast the gardener walks around the greenhouse and checks the temperature of the soil.",
    "The young woman with the green umbrella waited at the bus stop opposite the town hall for almost an hour.",
    "Nobody who has ever crossed that mountain pass in the middle of winter would want to do it a second time.",
    "The new teacher asked the pupils in the last row to bring their chairs to the front of the classroom.",
    "A group of students from the college by the river has built a small boat out of old plastic bottles.",
    "The old clock in the tower of the church has been running ten minutes late for as long as I can remember.",
)

# read aloud and written down again: everyday words whose spelling a listener can't get wrong
DICTATION = {
    "en": (
        *ENGLISH,
        "Please close the window before you go to bed.",
        "The train from the north is late again this evening.",
        "She has been learning to play the piano since last summer.",
        "I would rather walk than wait another hour for the bus.",
        "The children are building a house out of old boxes.",
        "There is fresh coffee in the kitchen if you want some.",
        "My brother works in a hospital on the other side of the river.",
        "It was so quiet that we could hear the snow falling from the trees.",
        "The doctor told him to drink more water and sleep longer.",
        "Could you tell me where the nearest post office is?",
        "They painted the kitchen yellow because it gets so little sun.",
        "After dinner we sat outside and looked at the stars.",
        "The teacher asked us to read the first chapter at home.",
        "He forgot his umbrella and came home wet to the skin.",
        "The market opens early and closes when everything is sold.",
        "Nothing tastes better than bread that has just been baked.",
        "We are going to visit my aunt on Sunday afternoon.",
        "The dog slept in front of the fire all day long.",
    ),
    "zh": (
        "今天天气很好，我们一起去公园散步吧。", "请把窗户关上，外面的风太大了。", "他每天早上六点起床，然后去跑步。",
        "这家饭馆的菜又便宜又好吃。", "我昨天晚上看了一部很有意思的电影。", "孩子们在院子里高兴地唱歌。",
        "火车站离这里不远，走路十分钟就到。", "老师让我们回家以后多读几遍课文。", "如果明天下雨，比赛就改到下个星期。",
        "妈妈做的饺子是全家人最喜欢的。", "你知道最近的银行在哪里吗？", "他学了三年中文，说得非常流利。",
        "冬天的早晨，湖面上结了一层薄薄的冰。", "我把手机忘在办公室了。", "这本书写得很好，我已经看了两遍。",
    ),
    "ja": (
        "今日はとても良い天気ですね。", "駅の前に新しい本屋ができました。", "毎朝六時に起きて、散歩をします。",
        "この料理はとても美味しいです。", "昨日の夜、友達と映画を見ました。", "子供たちは公園で遊んでいます。",
        "すみません、郵便局はどこですか。", "明日雨が降ったら、家で本を読みます。", "母の作った料理が一番好きです。",
        "日本語の勉強を始めて三年になります。", "電車が遅れて、会議に間に合いませんでした。", "窓を開けてもいいですか。",
        "冬になると、山に雪が積もります。", "新しい仕事はどうですか。", "夏休みに家族と海へ行きました。",
    ),
}
