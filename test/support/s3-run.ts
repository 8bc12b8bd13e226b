import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { s3Objects } from './rig/s3.js';

/** What `TEST_S3` says where a whole run keeps its files in S3 (test/media-s3). */
interface S3Run {
  settings: Record<string, string>;
  /** Of the server. */
  folder: string;
  bucket: string;
}

const given = process.env.TEST_S3;
const run = given === undefined ? null : (JSON.parse(given) as S3Run);

export const isRunInS3 = run !== null;

/** For what is about the folder and nothing else. */
export function itInFolder(...test: Parameters<typeof it>): void {
  (isRunInS3 ? it.skip : it)(...test);
}

/** Each data folder stands for a prefix of its own. */
export function s3Settings(dataDir: string | undefined): Record<string, string> {
  return run === null || dataDir === undefined ? {} : { ...run.settings, MEDIA_S3_PREFIX: basename(dataDir) };
}

/** Stored files by their paths below the prefix, and temporary ones of the folder; null where the run keeps them in the folder. */
export function filesInS3(dataDir: string): { path: string; sizeBytes: number; mode: number }[] | null {
  if (run === null) return null;
  const prefix = `${basename(dataDir)}/`;
  const stored = s3Objects(run.folder, run.bucket, prefix).map(({ name, sizeBytes }) => ({
    path: name.slice(prefix.length),
    sizeBytes,
    mode: 0o600,
  }));
  const coming = namesIn(join(dataDir, 'media', 'incoming')).map((name) => ({
    path: `incoming/${name}`,
    sizeBytes: 0,
    mode: 0o600,
  }));
  return [...stored, ...coming];
}

/** Nothing where the folder is not made yet. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
