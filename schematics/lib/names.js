const words = (text) => new Set(text.trim().split(/\s+/));

/** PostgreSQL 18, `pg_get_keywords()` with catcode R or T: none of them can name a table. */
export const RESERVED_IN_SQL = words(`
  all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross current_catalog current_date current_role current_schema current_time
  current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from
  full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
  localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
  returning right select session_user similar some symmetric system_user table tablesample then to trailing true union
  unique user using variadic verbose when where window with`);

/** None of them can name a variable of a module. */
const RESERVED_IN_JAVASCRIPT = words(`
  arguments await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return
  static super switch this throw true try typeof undefined var void while with yield`);

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
  const table = file.replaceAll('-', '_');
  const plural = files.replaceAll('-', '_');
  refuseReserved(files, 'PostgreSQL', RESERVED_IN_SQL, [table, plural]);
  refuseReserved(files, 'JavaScript', RESERVED_IN_JAVASCRIPT, [camel(file), camel(files)]);
  return {
    files,
    file,
    Many: pascal(files),
    One: pascal(file),
    many: camel(files),
    one: camel(file),
    table,
    CODE: file.replaceAll('-', '_').toUpperCase(),
    words: file.replaceAll('-', ' '),
    wordsMany: files.replaceAll('-', ' '),
    Title: title(files.replaceAll('-', ' ')),
  };
}

function refuseReserved(files, language, reserved, names) {
  const word = names.find((name) => reserved.has(name));
  if (word === undefined) return;
  throw new Error(`${files} needs the name ${word}, a reserved word of ${language}: say more, such as shop-${files}`);
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
