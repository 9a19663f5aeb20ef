import { z } from 'zod'
import { configField, live } from './field.ts'

/** Settings for running code snippets. */
export const snippets = z
  .strictObject({
    allow_bare: configField(
      z.boolean().default(false),
      'Whether code from anybody may run with nothing between it and the machine, where a worker has no better room.',
      { flag: '--allow-bare-snippets' },
    ),
    callback_secret: live(
      z.string().min(8).optional(),
      'What callbacks are signed with when the request brings no secret of its own.',
      { otherwise: 'not signed' },
    ),
    callbacks_to_private_addresses: configField(
      z.boolean().default(false),
      'Callbacks may go to this machine and its neighbours: only where everybody who submits is trusted.',
    ),
  })
  .prefault({})
