"""What may be wrong with a request."""

MESSAGES: dict[str, dict] = {
    # the text
    "text_empty": {"status": 422, "en": "Please type some text first.", "zh": "请先输入文字。"},
    "text_unspeakable": {
        "status": 422,
        "en": "There is nothing to read aloud here: the text has only {what}. Please add some words.",
        "zh": "这段文字没有可以朗读的内容（只有{what}），请加入一些文字。",
    },
    "text_too_long": {
        "status": 422,
        "en": "The text has {length} characters and the limit is {limit}: please shorten it or split it in parts.",
        "zh": "文字共 {length} 个字符，超过上限 {limit}：请缩短或分成几段。",
    },
    "language_unsupported": {
        "status": 422,
        "en": "{model} does not speak {language}: choose one of {choices}.",
        "zh": "{model} 不会说 {language}，请从这些语言中选择：{choices}。",
    },
    "script_unsupported": {
        "status": 422,
        "en": "{model} reads {language} only, and the text has {what}: please choose another voice or model.",
        "zh": "{model} 只会读 {language}，而文字中有{what}：请换一个声音或模型。",
    },
    # the request
    "field_invalid": {
        "status": 422,
        "en": "{name} must be {expected}.",
        "zh": "{name} 应为：{expected}。",
    },
    "field_unknown": {
        "status": 422,
        "en": "There is no field {name}{nearest}.",
        "zh": "没有名为 {name} 的字段{nearest}。",
    },
    "control_unknown": {
        "status": 422,
        "en": "{model} has no control {name}: its controls are {choices}.",
        "zh": "{model} 没有控制项 {name}，可用的有：{choices}。",
    },
    "body_invalid": {
        "status": 400,
        "en": "The request body is not valid JSON: send an object such as {{\"text\": \"Hello\"}}.",
        "zh": "请求内容不是有效的 JSON：请发送类似 {{\"text\": \"你好\"}} 的对象。",
    },
    "body_too_large": {
        "status": 413,
        "en": "The request is larger than {limit} MB: please send less at once.",
        "zh": "请求超过 {limit} MB：请分次发送。",
    },
    "model_unknown": {
        "status": 404,
        "en": "There is no model called {name}: choose one of {choices}.",
        "zh": "没有名为 {name} 的模型，请从这些中选择：{choices}。",
    },
    "voice_unknown": {
        "status": 404,
        "en": "{model} has no voice called {name}: {suggestion}.",
        "zh": "{model} 没有名为 {name} 的声音：{suggestion}。",
    },
    "saved_voice_unsupported": {
        "status": 422,
        "en": "{model} does not speak in saved voices: choose another model ({choices}).",
        "zh": "{model} 不支持已保存的声音：请换一个模型（{choices}）。",
    },
    "saved_mix_unsupported": {
        "status": 422,
        "en": "{model} speaks in one saved voice at a time: choose a single one, or kokoro to mix voices.",
        "zh": "{model} 一次只能用一个已保存的声音：请只选一个，或用 kokoro 混合声音。",
    },
    "voice_mix_invalid": {
        "status": 422,
        "en": "The voice mix {name} can't be read: write it like af_heart(2)+am_michael(1), with weights above 0.",
        "zh": "无法理解声音混合 {name}：请写成 af_heart(2)+am_michael(1) 的形式，权重须大于 0。",
    },
    "route_unknown": {
        "status": 404,
        "en": "There is no {path}: /api/docs lists the addresses there are.",
        "zh": "没有 {path} 这个地址：/api/docs 列出了所有地址。",
    },
    "method_wrong": {
        "status": 405,
        "en": "{path} does not take {method}: /api/docs lists what it takes.",
        "zh": "{path} 不支持 {method}：/api/docs 列出了支持的方法。",
    },
    "form_invalid": {
        "status": 400,
        "en": "The request body is not a valid form: send the recording as multipart/form-data in the field file.",
        "zh": "请求内容不是有效的表单：请用 multipart/form-data 在 file 字段中发送录音。",
    },
    "hearing_busy": {
        "status": 503,
        "en": "{length} recordings are already waiting to be transcribed: please try again in a few seconds.",
        "zh": "已有 {length} 段录音在等待转写，请过几秒再试。",
    },
    "limit_requests": {
        "status": 429,
        "en": "{limit} requests a minute are allowed from one place, and they are used up: please try again in {retry} s.",
        "zh": "同一来源每分钟最多 {limit} 个请求，现已用完：请在 {retry} 秒后再试。",
    },
    "limit_characters": {
        "status": 429,
        "en": "{limit} characters an hour are allowed from one place, and this text is more than is left of them: please try "
              "again in {retry} s, or send a shorter text.",
        "zh": "同一来源每小时最多朗读 {limit} 个字符，这段文字超出了余量：请在 {retry} 秒后再试，或发送更短的文字。",
    },
    "limit_at_once": {
        "status": 429,
        "en": "{limit} requests from one place may be under way at a time: wait until one is done, or stop one.",
        "zh": "同一来源最多同时进行 {limit} 个请求：请等其中一个完成，或停止一个。",
    },
}
