import { filesUnder, readProjectFile } from '../support/project-files.js';

const sources = ['src', 'simulator'].flatMap((folder) =>
  filesUnder(folder, (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts')),
);

function linesOf(path: string): number {
  return readProjectFile(path).split('\n').length - 1;
}

describe('sources', () => {
  it('are found', () => {
    expect(sources).toContain('src/main.ts');
    expect(sources.length).toBeGreaterThan(100);
  });

  it('have at most 500 lines', () => {
    const tooLong = sources.map((path) => ({ path, lines: linesOf(path) })).filter(({ lines }) => lines > 500);
    expect(tooLong).toEqual([]);
  });

  it('read the environment in infrastructure/config only', () => {
    const readers = sources.filter(
      (path) =>
        !path.startsWith('src/infrastructure/config/') && /process\s*(\.|\[\s*['"])env\b/.test(readProjectFile(path)),
    );
    // It writes programs for readers of the documentation, which read theirs.
    expect(readers).toEqual(['src/infrastructure/http/docs/code-samples.ts']);
  });

  it('have no default export and no barrel', () => {
    expect(sources.filter((path) => /^export default\b/m.test(readProjectFile(path)))).toEqual([]);
    expect(sources.filter((path) => path.endsWith('/index.ts'))).toEqual([]);
    expect(sources.filter((path) => /^export \*/m.test(readProjectFile(path)))).toEqual([]);
  });

  it('have kebab-case names', () => {
    expect(sources.filter((path) => !/^[a-z0-9/.-]+$/.test(path))).toEqual([]);
  });
});

describe('tests', () => {
  const specs = ['src', 'simulator', 'test']
    .flatMap((folder) => filesUnder(folder))
    .filter((path) => path.endsWith('spec.ts'));

  it('are all run, and none is a favourite', () => {
    const invalid = specs.filter((path) =>
      // A condition in front, such as "as root only", may skip; a bare call may not.
      /^\s*((fdescribe|fit|xit|xdescribe|xtest)\(|(describe|it|test)\.(only|skip|todo)\b)/m.test(readProjectFile(path)),
    );
    expect(invalid).toEqual([]);
  });

  it('have the name of their kind, so that one of the suites takes them', () => {
    // What tests share has specs of its own, which are units.
    const isEndToEnd = (path: string): boolean => /^test\/(?!support\/)/.test(path);
    const lost = specs.filter((path) => isEndToEnd(path) !== path.endsWith('.e2e-spec.ts'));
    expect(lost).toEqual([]);
  });
});
