import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDescriptors } from './descriptors.ts'

/**
 * Writes everything under src/wire/gen from proto/: the message types (buf.gen.yaml says how), and the descriptors
 * that reflection serves. Those are a module, not a .binpb beside it: tsc copies no binaries into dist/.
 */
export function generate(intoRoot: string): void {
  buf('generate', '--output', intoRoot)
  const set = buf('build', '--as-file-descriptor-set', '--exclude-source-info', '--output', '-#format=binpb')
  const file = join(intoRoot, 'src/wire/gen/descriptors.ts')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, descriptorModule(set))
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const buf = (...args: readonly string[]): Buffer =>
  execFileSync(join(ROOT, 'node_modules/.bin/buf'), args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })

/** One line per proto, so that a change to one stays a small diff. */
function descriptorModule(set: Uint8Array): string {
  const line = (name: string, bytes: Uint8Array) => `  '${name}': '${Buffer.from(bytes).toString('base64')}',`
  return [
    '// Made by src/wire/generate.ts from proto/. DO NOT EDIT.',
    '// A google.protobuf.FileDescriptorProto per file, imports included and comments left out, in base64.',
    'export const DESCRIPTORS: Readonly<Record<string, string>> = {',
    ...readDescriptors(set).map((file) => line(file.name, file.bytes)),
    '}',
    '',
  ].join('\n')
}

if (import.meta.main) generate(ROOT)
