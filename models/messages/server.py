"""What a session, the set-up and the way in may have to say."""

MESSAGES: dict[str, dict] = {
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
    "session_hung": {
        "status": 503,
        "en": "{model} gave no sign of life for {seconds} s and was given up: please try again in a few seconds.",
        "zh": "{model} 已有 {seconds} 秒没有响应，已被放弃，请过几秒再试。",
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
    "watermark_missing": {
        "status": 500,
        "en": "The package that marks sound is not installed: run .venv/bin/pip install -r requirements-watermark.txt, or set "
              "watermark = \"off\" in config.toml.",
        "zh": "未安装音频水印软件包：请运行 .venv/bin/pip install -r requirements-watermark.txt，或在 config.toml 中设置 watermark = \"off\"。",
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
