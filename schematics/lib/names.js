/** Every form of a resource's name that the templates use, from its word in the API: `quick-replies`. */
export function namesOf(given) {
  const files = given
    .replace(/^(src\/)?(modules\/)?/, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[\s_]+/g, '-')
    .toLowerCase();
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(files)) {
    throw new Error(`${given} is no name of a resource: give letters and hyphens, such as labels or quick-replies`);
  }
  const file = singularOf(files);
  return {
    files,
    file,
    Many: pascal(files),
    One: pascal(file),
    many: camel(files),
    one: camel(file),
    table: file.replaceAll('-', '_'),
    CODE: file.replaceAll('-', '_').toUpperCase(),
    words: file.replaceAll('-', ' '),
    wordsMany: files.replaceAll('-', ' '),
    Title: title(files.replaceAll('-', ' ')),
  };
}

function singularOf(word) {
  if (word.endsWith('ies')) return word.replace(/ies$/, 'y');
  if (/(ss|sh|ch|x|z)es$/.test(word)) return word.replace(/es$/, '');
  if (/[^s]s$/.test(word)) return word.replace(/s$/, '');
  throw new Error(`${word} is no plural: name the resource as the API's path does, such as labels`);
}

function pascal(word) {
  return word
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function title(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function camel(word) {
  const name = pascal(word);
  return name.charAt(0).toLowerCase() + name.slice(1);
}
