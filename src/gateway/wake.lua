-- Holds a request for an engine that cannot serve until it can, and sends the others to the engine's own cluster where Envoy has
-- one. Appended to routing.lua: it takes the place of the function that decides where a request goes.
--
-- The wake agent beside this gateway decides. Asking it about every request would cost half the throughput, so each worker keeps
-- what it was told. The agent numbers its view (the epoch) and changes the number as soon as any engine may stop being ready, or
-- Envoy may lack a cluster: what was told under the present epoch is still true. A worker asks for the epoch once a second, on the
-- occasion of a request; while the agent says that something is changing, every 50 ms: then another copy of this script runs, with
-- CHANGING set and a memory of its own.
--
-- No agent, no hold: without the agent's own header in the answer a request is sent to the engine's name, as if there were no agent.

local AGENT = "{{cluster.agent}}"
local DECISION = "{{header.decision}}"
local EPOCH = "{{header.epoch}}"
local CHECK_TIMEOUT_MS = 2000
local HOLD_TIMEOUT_MS = 125000
-- How long an epoch counts as the present one: normally, and for others while one request is asking.
local EPOCH_MS = CHANGING and 50 or 1000
local ASKING_MS = CHANGING and 50 or 1250
-- An agent that cannot be reached is left alone for a moment; one that does not answer, for longer.
local ABSENT_MS = 250
local SILENT_MS = 5000
local MOST_KNOWN = 4096

-- Of this worker alone: every worker runs the script by itself. Engine to the epoch under which it was ready, and whether Envoy had a
-- cluster of its name then.
local known = {}
local has_cluster = {}
local known_count = 0
local epoch = nil
local epoch_at = 0
local asking = false
local left_alone_until = 0

-- Clocks may be set back: what lies ahead is not within any time.
local function within(at, now, span)
  return now >= at and now - at < span
end

local function is_known(engine, now)
  return epoch and known[engine] == epoch and within(epoch_at, now, asking and ASKING_MS or EPOCH_MS)
end

-- The epoch is that of the answer: one that was overtaken says nothing about the present.
local function remember(engine, cluster, told)
  if not known[engine] then
    if known_count >= MOST_KNOWN then
      known, has_cluster, known_count = {}, {}, 0
    end
    known_count = known_count + 1
  end
  known[engine] = told
  has_cluster[engine] = cluster
end

-- Answers the agent's decision, nil without one, the status, the cluster, and the epoch of the decision.
local function ask(handle, path, timeout_ms)
  local began = handle:timestamp()
  local headers = handle:httpCall(
    AGENT,
    { [":method"] = "GET", [":path"] = path, [":authority"] = AGENT },
    "",
    timeout_ms
  )
  local decision = headers[DECISION]
  local now = handle:timestamp()
  local told = tonumber(headers[EPOCH])
  if decision then
    -- Answers may overtake each other: an older view never replaces a newer one.
    if told and (not epoch or told >= epoch) then
      epoch, epoch_at = told, now
    end
  else
    epoch = nil
    left_alone_until = now + (now - began >= timeout_ms and SILENT_MS or ABSENT_MS)
  end
  return decision, headers[":status"], headers[CLUSTER_HEADER], told
end

-- Only the engine's own name: whatever the agent says, no other cluster can be reached.
local function send_to_cluster(headers, engine)
  headers:replace(CLUSTER_HEADER, engine)
end

local function refuse(handle, status, text)
  local headers = { [":status"] = status }
  if status == "503" then
    headers["retry-after"] = "10"
  end
  handle:respond(headers, text)
end

local function refuse_decision(handle, engine, decision)
  if decision == "{{decision.unknown}}" then
    return refuse(handle, "404", 'there is no engine "' .. engine .. '" in this namespace')
  end
  if decision == "{{decision.stopped}}" then
    return refuse(handle, "503", 'engine "' .. engine .. '" is stopped, and no query starts it because auto-stop is off: set spec.replicas, or: kubectl firebolt start ' .. engine)
  end
  if decision == "{{decision.denied}}" then
    return refuse(handle, "503", 'engine "' .. engine .. '" is stopped, and the API server rejects this gateway\'s wake request: its service account was replaced or lost its permission; retry shortly')
  end
  refuse(handle, "503", "engine is not available; retry shortly")
end

dispatch = function(handle, headers, engine)
  local now = handle:timestamp()
  if is_known(engine, now) then
    return (has_cluster[engine] and send_to_cluster or send_by_name)(headers, engine)
  end
  if within(left_alone_until - SILENT_MS, now, SILENT_MS) then
    return send_by_name(headers, engine)
  end
  asking = true
  local decision, status, cluster, told = ask(handle, "{{path.check}}?{{parameter.engine}}=" .. engine, CHECK_TIMEOUT_MS)
  asking = false
  if decision == "{{decision.wait}}" then
    decision, status, cluster, told = ask(handle, "{{path.hold}}?{{parameter.engine}}=" .. engine, HOLD_TIMEOUT_MS)
  end
  if known[engine] then
    -- No epoch: until the decision below is remembered.
    known[engine] = 0
  end
  if decision and status ~= "200" then
    return refuse_decision(handle, engine, decision)
  end
  local has_own = decision and cluster == engine
  -- Not "leaving": an engine that is asked to stop serves this request, and perhaps not the next.
  if decision == "{{decision.ready}}" or decision == "{{decision.released}}" then
    remember(engine, has_own, told)
  end
  return (has_own and send_to_cluster or send_by_name)(handle:headers(), engine)
end
