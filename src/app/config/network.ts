import { z } from 'zod'
import { reachProblem } from '../../base/address-rules.ts'
import { grantProblem } from '../../model/properties/network-grants.ts'
import { configField } from './field.ts'

/** A text that passes the check. */
const checked = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

export const network = z
  .strictObject({
    allow: configField(
      z.array(checked(grantProblem)).default([]),
      'APIs whose tasks may use a network: rest, judge0, cwl, reapi or * for all; rest@a is only for instance a.',
      { otherwise: 'none' },
    ),
    mode: configField(
      z.enum(['room', 'host', 'off']).default('room'),
      'Network of such tasks on a worker: room (isolated, public addresses only), host (that of the machine) or off.',
    ),
    reach: configField(
      z.array(checked(reachProblem)).default([]),
      'Private addresses, ranges (10.1.0.0/16) and host names that rooms and callbacks may connect to.',
      { otherwise: 'none' },
    ),
  })
  .prefault({})
