import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** A template with its `__name__`s filled in. */
export function filled(template, names) {
  return inserted(readFileSync(template, 'utf8'), names);
}

/** A text or a path with its `__name__`s filled in. */
export function inserted(text, names) {
  return text.replaceAll(/__([A-Za-z]+?)__/g, (_token, name) => {
    if (names[name] === undefined) throw new Error(`a template names __${name}__, which is nothing`);
    return names[name];
  });
}

/** Creates a file as prettier would have it. */
export async function create(tree, path, content) {
  if (tree.exists(path)) throw new Error(`${path} is there already: remove it, or choose another name`);
  tree.create(path, await formatted(path, content));
}

/** Puts text in front of the first place where `anchor` stands. */
export async function insert(tree, path, anchor, text) {
  const content = tree.readText(path);
  const at = content.indexOf(anchor);
  if (at === -1) throw new Error(`${path} has no "${anchor.trim()}" any more: fix the generator in schematics/`);
  tree.overwrite(path, await formatted(path, content.slice(0, at) + text + content.slice(at)));
}

async function formatted(path, content) {
  const options = await resolveConfig(`${process.cwd()}/${path}`);
  return format(content, { ...options, filepath: path });
}
