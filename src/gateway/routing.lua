-- Picks the engine of a request and points the request at that engine's Service. Runs before the forward proxy, which resolves
-- whatever :authority says: nothing may pass here without an authority made by this script.
--
-- The suffix of the authority comes from the route's metadata, so that this text is the same for every gateway.

local SELECTOR_HEADER = "{{header.engine}}"
local SELECTOR_PARAMETER = "{{parameter.engine}}"
local LABEL_PARAMETER = "query_label"
local LABEL_LENGTH = 128

local function decode_hex(digits)
  return string.char(tonumber(digits, 16))
end

-- The text behind a percent-encoding, or nil when a "%" is not followed by two hexadecimal digits.
local function decode(text)
  local stripped = text:gsub("%%%x%x", "")
  if stripped:find("%", 1, true) then
    return nil
  end
  return (text:gsub("+", " "):gsub("%%(%x%x)", decode_hex))
end

-- One DNS label. A dot would let a caller leave the namespace, a colon or an at sign would change the authority.
local function is_label(text)
  return #text >= 1 and #text <= {{name.max_length}} and not text:find("[^{{name.characters}}-]") and text:sub(1, 1) ~= "-" and text:sub(-1) ~= "-"
end

-- Takes the selector out of a path. Answers its value (nil without one) and the path without it; or nil, nil and a refusal.
local function take_parameter(path)
  local mark = path:find("?", 1, true)
  if not mark then
    return nil, path, nil
  end
  local value = nil
  local kept = {}
  for part in (path:sub(mark + 1) .. "&"):gmatch("([^&]*)&") do
    local equals = part:find("=", 1, true)
    local key = equals and part:sub(1, equals - 1) or part
    if decode(key) == SELECTOR_PARAMETER then
      if value then
        return nil, nil, "multiple engine query parameters"
      end
      value = decode(equals and part:sub(equals + 1) or "")
      if not value then
        return nil, nil, "invalid engine query parameter encoding"
      end
    else
      kept[#kept + 1] = part
    end
  end
  if not value then
    return nil, path, nil
  end
  local base = path:sub(1, mark - 1)
  local query = table.concat(kept, "&")
  return value, query == "" and base or base .. "?" .. query, nil
end

-- The label of a query as the access log may have it, or nil without one. Decoded it can hold anything, also a line break and a whole line
-- of the log: of other characters than these only the number is kept.
local function loggable_label(path)
  local mark = path:find("?", 1, true)
  for part in ((mark and path:sub(mark + 1) or "") .. "&"):gmatch("([^&]*)&") do
    local key, text = part:match("^([^=]*)=(.+)$")
    if key == LABEL_PARAMETER then
      return ((decode(text) or text):sub(1, LABEL_LENGTH):gsub("[^%w._:-]", "_"))
    end
  end
  return nil
end

-- Answers the engine and the path to send to it, or nil, nil and the text of the refusal.
local function select_engine(header, path)
  local parameter, remaining, refusal = take_parameter(path)
  if refusal then
    return nil, nil, refusal
  end
  if header then
    if not is_label(header) then
      return nil, nil, "invalid {{header.engine.shown}} header"
    end
    if parameter and parameter ~= header then
      return nil, nil, "conflicting engine selectors"
    end
    return header, remaining, nil
  end
  if not parameter or not is_label(parameter) then
    return nil, nil, "invalid or missing engine selector"
  end
  return parameter, remaining, nil
end

local function route(handle)
  local headers = handle:headers()
  local path = headers:get(":path") or ""
  local label = loggable_label(path)
  if label then
    handle:streamInfo():dynamicMetadata():set("envoy.filters.http.lua", LABEL_PARAMETER, label)
  end
  local engine, remaining, refusal = select_engine(headers:get(SELECTOR_HEADER), path)
  if refusal then
    return nil, refusal
  end
  local authority = engine .. handle:metadata():get("engine_authority_suffix")
  if remaining ~= path then
    headers:replace(":path", remaining)
  end
  headers:replace(SELECTOR_HEADER, engine)
  headers:replace(":authority", authority)
  return engine, nil
end

-- Answers the engine that the request goes to, or nil when it was answered here: a script appended to this one may wrap this
-- function and act on requests that are about to be forwarded.
function envoy_on_request(handle)
  -- After an error inside the script Envoy would forward the request as it came, to any host the caller names.
  local ran, engine, refusal = pcall(route, handle)
  if not ran then
    handle:logErr("routing failed: " .. tostring(engine))
    handle:respond({ [":status"] = "500" }, "routing failed")
    return nil
  end
  if refusal then
    handle:respond({ [":status"] = "400" }, refusal)
    return nil
  end
  return engine
end
