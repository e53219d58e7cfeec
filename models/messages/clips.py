"""What may be wrong with a recording or a saved voice."""

MESSAGES: dict[str, dict] = {
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
    "storage_failed": {
        "status": 507,
        "en": "The voice could not be written to the server's disk ({reason}): nothing was changed; ask the operator to make "
              "room in {path}, then save it again.",
        "zh": "声音无法写入服务器磁盘（{reason}）：没有任何改动；请让管理员为 {path} 腾出空间，然后重新保存。",
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
}
