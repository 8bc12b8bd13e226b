import ts from 'typescript';
import { readProjectFile } from './project-files.js';

const VALUE = String.raw`(\$\d+(::\w+)?|'[^']*'|null|true|false|clock_timestamp\(\))`;
const KEYED = String.raw`(\w+\.)?\w+ = ${VALUE}( and (\w+\.)?\w+ = ${VALUE})*`;
const COLUMNS = String.raw`[\w ,."*]+`;
const EXCLUDED = String.raw`\w+ = excluded\.\w+`;

/** One row of one table, by its key: no join, no lock, nothing computed. */
const PLAIN = [
  String.raw`select ${COLUMNS} from (?<table>\w+)( \w+)? where ${KEYED}`,
  String.raw`insert into (?<table>\w+) \(${COLUMNS}\) values \(\$\d+(, \$\d+)*\)( on conflict \(${COLUMNS}\) do update set ${EXCLUDED}(, ${EXCLUDED})*)?`,
  String.raw`update (?<table>\w+)( \w+)? set \w+ = ${VALUE}(, \w+ = ${VALUE})* where ${KEYED}`,
  String.raw`delete from (?<table>\w+)( \w+)? where ${KEYED}`,
].map((pattern) => new RegExp(`^${pattern}$`, 'i'));

/** The table of a statement that a repository of TypeORM says as well; null: it is no such statement. */
export function plainTable(sql: string): string | null {
  const text = sql.replaceAll(/\s+/g, ' ').trim();
  for (const pattern of PLAIN) {
    const found = pattern.exec(text)?.groups?.table;
    if (found !== undefined) return found;
  }
  return null;
}

const STATEMENT = /\b(select|insert into|update|delete from)\b/i;

/** All texts in quotes of a source file that has SQL; what is put into them stays as it is written there. */
export function quotedTexts(path: string): string[] {
  const found: string[] = [];
  const content = readProjectFile(path);
  if (!STATEMENT.test(content)) return found;
  const source = ts.createSourceFile(path, content, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node)) found.push(node.getText(source).slice(1, -1));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
