import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDescriptors } from './descriptors.ts'

/**
 * Writes everything under src/wire/gen from proto/: the message types (configured in buf.gen.yaml) and the descriptors
 * that reflection serves. The descriptors are a module, not a .binpb file, because tsc copies no binary files into
 * dist/.
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

/** Writes one line per proto file, so that a change to one file is a small diff. */
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
