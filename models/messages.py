"""Every sentence a user may be told when something can't be done, in each language of the page."""
LANGUAGES = ("en", "zh")

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
    # the reference clip
    "clip_needed": {
        "status": 422,
        "en": "{model} speaks in the voice of a reference clip: please add a clip of 3 to 20 seconds.",
        "zh": "{model} 需要参考音频才能说话：请添加一段 3 到 20 秒的录音。",
    },
    "clip_unsupported": {
        "status": 422,
        "en": "{model} does not clone voices: remove the clip, or choose one of {choices}.",
        "zh": "{model} 不支持声音克隆：请去掉参考音频，或选择 {choices}。",
    },
    "clip_too_short": {
        "status": 422,
        "en": "The reference clip lasts {seconds} s: please use at least {least} s of clear speech.",
        "zh": "参考音频只有 {seconds} 秒：请使用至少 {least} 秒的清晰语音。",
    },
    "clip_too_long": {
        "status": 422,
        "en": "The reference clip lasts {seconds} s and {model} takes {most} s: please cut it, and its transcript with it.",
        "zh": "参考音频长 {seconds} 秒，而 {model} 最多支持 {most} 秒：请剪短音频，并相应缩短文字稿。",
    },
    "clip_silent": {
        "status": 422,
        "en": "The reference clip is silent: please record or choose one with a voice in it.",
        "zh": "参考音频没有声音：请重新录制或选择包含人声的音频。",
    },
    "clip_transcript_missing": {
        "status": 422,
        "en": "{model} needs the words spoken in the reference clip: please type them in as its transcript.",
        "zh": "{model} 需要参考音频中所说的文字：请填写它的文字稿。",
    },
    "request_unknown": {
        "status": 404,
        "en": "There is no request {id}: it may be too old to be remembered.",
        "zh": "找不到请求 {id}：可能时间太久，记录已不在。",
    },
    # recordings that become reference clips
    "clip_empty": {
        "status": 422,
        "en": "The clip is empty: please choose another file or record again.",
        "zh": "音频文件是空的：请换一个文件或重新录音。",
    },
    "clip_too_large": {
        "status": 413,
        "en": "The clip is larger than {limit} MB: please cut it or save it as MP3 or FLAC.",
        "zh": "音频超过 {limit} MB：请剪短，或存为 MP3、FLAC 格式。",
    },
    "recording_too_long": {
        "status": 422,
        "en": "The recording is longer than {minutes} minutes: please cut out a part of 10 to 60 seconds.",
        "zh": "录音超过 {minutes} 分钟：请剪出 10 到 60 秒的片段。",
    },
    "clip_not_audio": {
        "status": 422,
        "en": "This is not an audio file that can be read: please use WAV, MP3, M4A, FLAC, OGG or WebM.",
        "zh": "无法识别这个音频文件：请使用 WAV、MP3、M4A、FLAC、OGG 或 WebM。",
    },
    "clip_no_sound": {
        "status": 422,
        "en": "This file has no sound track: please choose a recording of the voice.",
        "zh": "这个文件没有声音：请选择一段人声录音。",
    },
    "clip_broken": {
        "status": 422,
        "en": "The audio file is damaged or cut off and can't be read: please save or send it again.",
        "zh": "音频文件已损坏或不完整，无法读取：请重新保存或上传。",
    },
    "clip_unusual": {
        "status": 422,
        "en": "The clip has {channels} channels at {rate} Hz: please save it with 1 to {most} channels at {low} to {high} kHz.",
        "zh": "音频为 {channels} 声道、{rate} Hz：请存为 1 到 {most} 声道、{low} 到 {high} kHz。",
    },
    "clip_no_speech": {
        "status": 422,
        "en": "No speech was found in the clip, only noise or music: please record one person speaking in a quiet room.",
        "zh": "没有听到人说话，只有噪音或音乐：请在安静的房间录一个人说话。",
    },
    "clip_little_speech": {
        "status": 422,
        "en": "The clip has {seconds} s of speech and at least 1 s is needed: please record about 10 seconds.",
        "zh": "音频中只有 {seconds} 秒人声，至少需要 1 秒：请录大约 10 秒。",
    },
    # saved voices
    "saved_voice_unknown": {
        "status": 404,
        "en": "There is no saved voice {name}: it may have been deleted, or it is somebody else's.",
        "zh": "没有名为 {name} 的已存声音：可能已删除，或属于其他人。",
    },
    "saved_voice_foreign": {
        "status": 403,
        "en": "The voice {name} belongs to somebody else: make a copy of it to change it.",
        "zh": "声音 {name} 属于其他人：请先复制一份再修改。",
    },
    "saved_voice_unfitted": {
        "status": 409,
        "en": "The voice {name} has not been fitted to {model} yet: clone it there first.",
        "zh": "声音 {name} 尚未适配 {model}：请先在该模型上克隆。",
    },
    "voice_name_taken": {
        "status": 409,
        "en": "You already have a voice called {name}: please choose another name.",
        "zh": "您已有名为 {name} 的声音：请换一个名字。",
    },
    "consent_missing": {
        "status": 422,
        "en": "Please say who agreed to this voice being cloned: it can't be saved without their consent.",
        "zh": "请填写是谁同意克隆这个声音：未经本人同意不能保存。",
    },
    "voices_full": {
        "status": 409,
        "en": "You already have {limit} saved voices: please delete some first.",
        "zh": "您已有 {limit} 个已保存的声音：请先删除一些。",
    },
    "cross_site": {
        "status": 403,
        "en": "Another page asked for this in your name, and that is not allowed: please use ReadyVoice's own page.",
        "zh": "这个请求来自其他网页，已被拒绝：请在 ReadyVoice 自己的页面上操作。",
    },
    "owner_missing": {
        "status": 403,
        "en": "Saved voices belong to the browser that made them, known by a cookie: allow cookies here and reload the page.",
        "zh": "已保存的声音属于创建它的浏览器，通过 Cookie 识别：请允许本页使用 Cookie 并刷新页面。",
    },
    "clip_unknown": {
        "status": 404,
        "en": "This clip is no longer at hand: please record or choose it again.",
        "zh": "这段录音已不在：请重新录制或选择。",
    },
    "fit_busy": {
        "status": 409,
        "en": "This voice is still being made: wait until it is done, or stop and keep what there is.",
        "zh": "这个声音还在生成中：请等待完成，或停止并保留当前结果。",
    },
    "fit_missing": {
        "status": 409,
        "en": "There is nothing to hear yet: make the voice first.",
        "zh": "还没有可以试听的声音：请先生成。",
    },
    "cloning_busy": {
        "status": 503,
        "en": "{length} others are already waiting for their voices: please try again in a few seconds.",
        "zh": "已有 {length} 个请求在等待处理声音，请过几秒再试。",
    },
    "cloning_failed": {
        "status": 500,
        "en": "The voice could not be made ({reason}): please try another recording.",
        "zh": "无法生成这个声音（{reason}）：请换一段录音再试。",
    },
    "voice_file_invalid": {
        "status": 422,
        "en": "This is not a voice file that can be imported ({reason}): please export the voice again.",
        "zh": "无法导入这个声音文件（{reason}）：请重新导出后再试。",
    },
    # the session
    "queue_full": {
        "status": 503,
        "en": "{model} already has {length} requests waiting: please try again in a few seconds.",
        "zh": "{model} 已有 {length} 个请求在排队，请过几秒再试。",
    },
    "not_ready": {
        "status": 503,
        "en": "{model} is still {state}: please try again in a few seconds.",
        "zh": "{model} 还在准备中（{state}），请过几秒再试。",
    },
    "session_failed": {
        "status": 503,
        "en": "{model} is not available ({reason}): choose another model, or ask the operator to look at its log.",
        "zh": "{model} 暂不可用（{reason}）：请换一个模型，或请管理员查看日志。",
    },
    "no_room": {
        "status": 503,
        "en": "{model} needs about {needed} of memory and {left} is left: try again when other models are idle, choose "
              "one that is ready, or ask the operator to raise memory_budget.",
        "zh": "{model} 约需 {needed} 内存，目前只剩 {left}：请等其他模型空闲后再试，换一个已就绪的模型，或请管理员调高 memory_budget。",
    },
    "deferred": {
        "status": 503,
        "en": "{model} needs about {needed} of memory and {left} is left: its first request loads it; to have it at "
              "start, raise memory_budget, or its priority, in config.toml.",
        "zh": "{model} 约需 {needed} 内存，目前只剩 {left}：将在首次请求时加载；若要启动时加载，请在 config.toml 中调高 memory_budget 或它的 priority。",
    },
    "evicted": {
        "status": 503,
        "en": "{model} was unloaded to make room for {other}: its next request loads it again.",
        "zh": "{model} 已卸载，为 {other} 腾出内存：下一次请求会重新加载。",
    },
    "swap_failed": {
        "status": 500,
        "en": "{model} goes on as it was, its new configuration could not be loaded ({reason}).",
        "zh": "{model} 保持原样，新配置无法加载（{reason}）。",
    },
    "model_removed": {
        "status": 404,
        "en": "{model} has been taken out of service: choose another model.",
        "zh": "{model} 已停止服务：请换一个模型。",
    },
    "restart_needed": {
        "status": 500,
        "en": "{name} is only read at start: restart the server to change it to {value}.",
        "zh": "{name} 只在启动时读取：如需改为 {value}，请重启服务器。",
    },
    "session_died": {
        "status": 503,
        "en": "{model} stopped in the middle of its work and is being restarted: please try again in a few seconds.",
        "zh": "{model} 中途停止，正在重新启动，请过几秒再试。",
    },
    "deadline": {
        "status": 503,
        "en": "The request took longer than {seconds} s and was ended: please send a shorter text.",
        "zh": "请求超过 {seconds} 秒，已被结束：请发送更短的文字。",
    },
    "cancelled": {"status": 499, "en": "The request was stopped.", "zh": "请求已停止。"},
    "internal": {
        "status": 500,
        "en": "{model} could not speak this text ({reason}): please try other words, or report request {id}.",
        "zh": "{model} 无法朗读这段文字（{reason}）：请换个说法，或报告请求编号 {id}。",
    },
    # set-up and configuration
    "config_unknown_key": {
        "status": 500,
        "en": "{where} has an unknown key {name}{nearest}.",
        "zh": "{where} 中有未知的键 {name}{nearest}。",
    },
    "config_invalid": {
        "status": 500,
        "en": "{where}: {name} must be {expected}.",
        "zh": "{where}：{name} 应为{expected}。",
    },
    "server_unknown": {
        "status": 500,
        "en": "No server runs here on port {port}: start it with bash start.sh, or name its port with --port.",
        "zh": "端口 {port} 上没有运行中的服务器：请用 bash start.sh 启动，或用 --port 指定端口。",
    },
    "config_file": {
        "status": 500,
        "en": "The configuration {path} can't be read: {reason}.",
        "zh": "无法读取配置 {path}：{reason}。",
    },
    # who may enter
    "login_needed": {
        "status": 401,
        "en": "Please log in first: open the page and type the password, or send a key as Authorization: Bearer KEY.",
        "zh": "请先登录：打开页面并输入密码，或在请求头中发送密钥 Authorization: Bearer KEY。",
    },
    "login_wrong": {
        "status": 401,
        "en": "That is not the password: please try again.",
        "zh": "密码不正确，请重试。",
    },
    "login_wait": {
        "status": 429,
        "en": "There were too many wrong passwords: please try again in {seconds} s.",
        "zh": "密码错误次数过多：请在 {seconds} 秒后重试。",
    },
    "password_short": {
        "status": 422,
        "en": "The password in {source} is too short: give it {least} characters or more.",
        "zh": "{source} 中的密码太短：至少需要 {least} 个字符。",
    },
    "key_taken": {
        "status": 409,
        "en": "There is a key called {name} already: choose another name, or revoke it first.",
        "zh": "已有名为 {name} 的密钥：请换一个名称，或先撤销它。",
    },
    "key_unknown": {
        "status": 404,
        "en": "There is no key called {name}: bash start.sh keys list shows them.",
        "zh": "没有名为 {name} 的密钥：bash start.sh keys list 可列出全部密钥。",
    },
    "sequence_file": {
        "status": 422,
        "en": "{path} can't be read ({reason}): it must be a JSON list such as [{{\"text\": \"Hello\", \"out\": \"hello.wav\"}}].",
        "zh": "无法读取 {path}（{reason}）：内容应为 JSON 列表，例如 [{{\"text\": \"你好\", \"out\": \"hello.wav\"}}]。",
    },
    "sequence_invalid": {
        "status": 422,
        "en": "Request {number} of the list can't be spoken: {error}.",
        "zh": "列表中的第 {number} 个请求有误：{error}。",
    },
    "folder_missing": {
        "status": 500,
        "en": "The folder {path} does not exist: make it first, or choose another.",
        "zh": "文件夹 {path} 不存在：请先创建，或选择其他位置。",
    },
    "family_unknown": {
        "status": 500,
        "en": "There is no family of models called {name}{nearest}.",
        "zh": "没有名为 {name} 的模型家族{nearest}。",
    },
    "checkpoint_unknown": {
        "status": 500,
        "en": "There is no checkpoint called {name}{nearest}: bash start.sh fetch lists them.",
        "zh": "没有名为 {name} 的模型{nearest}：用 bash start.sh fetch 查看列表。",
    },
    "package_missing": {
        "status": 500,
        "en": "{model} needs the package {package}: install it with bash start.sh --with {family}.",
        "zh": "{model} 需要软件包 {package}：请运行 bash start.sh --with {family} 安装。",
    },
    "device_missing": {
        "status": 500,
        "en": "{model} is set to run on {device}, and this machine has no such device: set device = \"auto\" in config.toml.",
        "zh": "{model} 被设置在 {device} 上运行，但本机没有该设备：请在 config.toml 中设置 device = \"auto\"。",
    },
    "weights_missing": {
        "status": 500,
        "en": "The weights of {model} are not on this machine and could not be fetched ({reason}): {advice}.",
        "zh": "本机没有 {model} 的权重，也无法下载（{reason}）：{advice}。",
    },
    "weights_broken": {
        "status": 500,
        "en": "The weights of {model} in {path} are not usable ({reason}): {advice}.",
        "zh": "{path} 中 {model} 的权重无法使用（{reason}）：{advice}。",
    },
}
