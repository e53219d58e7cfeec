"""Files as people have them, made on the spot: any container, codec, rate and number of channels."""
from __future__ import annotations

import io

import av
import numpy as np
import soundfile

LAYOUTS = {1: "mono", 2: "stereo", 3: "2.1", 4: "quad", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}


def tone(seconds: float, rate: int, frequency: float = 440.0, level: float = 0.3) -> np.ndarray:
    """A sine, float32."""
    return (level * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def pcm_file(samples: np.ndarray, rate: int, kind: str = "WAV", subtype: str = "PCM_16", channels: int = 1) -> bytes:
    """By libsndfile. samples: mono, the same on every channel, or [n, channels]."""
    buffer = io.BytesIO()
    wide = np.repeat(samples[:, None], channels, 1) if samples.ndim == 1 else samples
    soundfile.write(buffer, wide, rate, format=kind, subtype=subtype)
    return buffer.getvalue()


def coded_file(samples: np.ndarray, rate: int, container: str, codec: str, channels: int = 1, cover: bool = False) -> bytes:
    """By FFmpeg's encoders. cover: with a picture track before the sound, as music files have."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container) as file:
        if cover:
            picture = file.add_stream("mjpeg" if container != "webm" else "libvpx", rate=1)
            picture.width = picture.height = 64
            picture.pix_fmt = "yuvj420p" if container != "webm" else "yuv420p"
        stream = file.add_stream(codec, rate=48_000 if codec == "libopus" else rate, layout=LAYOUTS[channels])
        if cover:
            image = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")
            file.mux(picture.encode(image.reformat(format=picture.pix_fmt)))
            file.mux(picture.encode())
        resampler = av.AudioResampler(format=stream.format, layout=LAYOUTS[channels], rate=stream.rate)
        wide = np.repeat(samples[None, :], channels, 0).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(wide, format="fltp", layout=LAYOUTS[channels])
        frame.sample_rate = rate
        size = stream.codec_context.frame_size or 1024
        fifo = av.AudioFifo()
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            piece.pts = None
            fifo.write(piece)
        while fifo.samples:
            for packet in stream.encode(fifo.read(min(size, fifo.samples))):
                file.mux(packet)
        for packet in stream.encode(None):
            file.mux(packet)
    return buffer.getvalue()
