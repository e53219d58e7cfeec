// A voice says a sentence of its own language, so that it can be heard before it is chosen.
import { load, locale } from '../base/i18n.js';
import { primary } from '../base/store.js';
import * as engine from '../player/engine.js';

// voice: {id, language}. wish: the language asked for, where the voice speaks them all or its own isn't the model's.
export async function say({ model, voice, wish = 'auto', speed = 1, options = {} }, event, mark = voice.id) {
  const { preview: sentences } = await load('sentences');
  const own = primary(voice.language);
  const language = model.languages.includes(own) ? own : spoken(model.languages, sentences, wish);
  return engine.speak(
    { text: sentences[language] ?? sentences.en, model: model.id, voice: voice.id, language, speed, options },
    { rate: model.sample_rate, clicked: event.timeStamp, preview: mark },
  );
}

// The language in which to hear a voice that speaks them all.
function spoken(languages, sentences, wish) {
  const wishes = [wish, locale(), 'en', ...languages];
  return wishes.find((tag) => languages.includes(tag) && tag in sentences) ?? languages[0];
}
