import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** One SQL text of the source that touches tables of workspaces. */
export interface Statement {
  /** `src/…/file.ts#method` or `#CONSTANT`. */
  place: string;
  tables: string[];
  /** It compares the workspace with a value or another row's, or writes it. */
  namesWorkspace: boolean;
}

/** Comparisons with a parameter, a list of them, another row, or a value put in by the program; rows with an owner. */
const NAMES_WORKSPACE =
  /organization_id\s*=\s*(\$\d+|any\(\s*\$|[a-z_]+\.(organization_id|"organizationId")|\$\{)|insert into \w+( as \w+)? \([^)]*organization_id/;

const PUT_IN = /\b(from|join|update|into)\s+\$\{/;
const SQL = /\b(select\b[^]*\bfrom|delete\s+from|update\b[^]*\bset|insert\s+into)\b/;

/** Every string of the program that names one of these tables after `from`, `join`, `update` or `into`. */
export function statementsOf(root: string, tables: readonly string[]): Statement[] {
  const touch = new RegExp(`\\b(?:from|join|update|into)\\s+(?:only\\s+)?"?(${tables.join('|')})\\b(?!\\s*\\.)`, 'gi');
  return sourcesOf(root).flatMap((path) => {
    const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
    const found: Statement[] = [];
    const visit = (node: ts.Node, owner: string): void => {
      const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
      if (isText) {
        const text = node.getText();
        const touched = [...text.matchAll(touch)].map(([, table]) => (table ?? '').toLowerCase());
        // A table that the program puts in may be any.
        if (touched.length === 0 && PUT_IN.test(text) && SQL.test(text)) touched.push('?');
        if (touched.length > 0) {
          const namesWorkspace = NAMES_WORKSPACE.test(text);
          found.push({ place: `${path}#${owner}`, tables: [...new Set(touched)].sort(), namesWorkspace });
        }
      }
      ts.forEachChild(node, (child) => visit(child, ownerOf(node) ?? owner));
    };
    visit(source, '');
    return found;
  });
}

/** Methods, functions and what is at the top of a file own the texts in them. */
function ownerOf(node: ts.Node): string | null {
  if (ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node)) return node.name?.getText() ?? null;
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const isTop = ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent);
  return isTop ? node.name.getText() : null;
}

/** Sources of the application, from the root. The simulator is the platform: it has no tables. */
export function sourcesOf(root: string): string[] {
  return readdirSync(join(root, 'src'), { recursive: true })
    .map((path) => `src/${String(path).replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.startsWith('src/simulator/'))
    .sort();
}

/** Files that let the object mapper write their statements. */
export function mappedSources(root: string): string[] {
  return sourcesOf(root).filter((path) =>
    /\.repository\(\w+Entity\)|getRepository\(\w+Entity\)/.test(readFileSync(join(root, path), 'utf8')),
  );
}
