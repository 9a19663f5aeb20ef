import type { Command } from '../../model/command.ts'

/** A command that runs in place: without inputs and outputs to transfer. */
export const machineCommand = (argv: readonly string[], env: Readonly<Record<string, string>>): Command => ({
  argv,
  env: Object.entries(env).map(([name, value]) => ({ name, value })),
  workingDirectory: '',
  inputs: { root: undefined, files: [], uris: [] },
  outputs: { paths: { kind: 'any', paths: [] }, globs: [], directoryFormat: 'tree', properties: [] },
  platform: [],
  image: undefined,
  limits: {},
  network: true,
  cacheable: false,
})
